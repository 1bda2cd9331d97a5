// SPDX-License-Identifier: Apache-2.0
#include "app/stages/linger.h"

#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/sorted.h"
#include "core/permissions/unauthorized.h"
#include "core/teamspace/excerpt.h"
#include "kube/codec/codec.h"
#include "kube/json/json.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;

// Clocks of whole milliseconds may ring a little early.
constexpr std::chrono::milliseconds kSlack{20};
// Who changes several objects changes them one after the other: a pass for all of them is better than one for the
// first.
constexpr std::chrono::milliseconds kSettle{20};

/// Has `objects`, which are sorted by `key`, hold `object`; returns whether they are others now.
template <typename T>
bool Put(std::vector<T>& objects, std::string T::*key, T object) {
  const auto place = LowerBound(objects, key, object.*key);
  if (place == objects.end() || (*place).*key != object.*key) {
    objects.insert(place, std::move(object));
    return true;
  }
  if (*place == object) return false;
  *place = std::move(object);
  return true;
}

template <typename T>
bool Erase(std::vector<T>& objects, std::string T::*key, const std::string& name) {
  const auto place = LowerBound(objects, key, name);
  if (place == objects.end() || (*place).*key != name) return false;
  objects.erase(place);
  return true;
}

class Lingering {
 public:
  Lingering(Client& client, Observation observation, const LingerSetting& setting)
      : client_(client), setting_(setting), observation_(std::move(observation)), until_(Clock::now() + setting.most) {}

  Wake Run(const ListVersions& versions) {
    client_.set_time_left(setting_.most);
    Watch(kTeamSpaces, versions.team_spaces, observation_.team_spaces, &TeamSpace::name, &DecodeTeamSpaceAt);
    Watch(kNamespaces, versions.namespaces, observation_.namespaces, &Namespace::name, &DecodeNamespaceAt);
    Watch(kQuotas, versions.quotas, observation_.quotas, &Quota::namespace_name, &DecodeQuotaAt);
    client_.RunUntilIdle();
    if (wake_) return *wake_;
    const bool one = with_work_.size() == 1;
    const std::string team_space = one ? *with_work_.begin() : std::string();
    return {WakeCause::kSomethingToDo, team_space,
            "something to do about " + (one ? team_space : "several team spaces")};
  }

 private:
  template <typename T>
  using Decode = Result<T> (*)(JsonDocument&, const JsonReader&);

  template <typename T>
  void Watch(const Collection& collection, const std::string& version, std::vector<T>& objects, std::string T::*key,
             Decode<T> decode) {
    client_.Watch(
        collection, version,
        [this, &objects, key, decode](std::string& line) { return Take(line, objects, key, decode); },
        [this, &collection](const Status& done) { OnEnd(collection, done); });
  }

  /// Takes one event in.
  template <typename T>
  Status Take(std::string& line, std::vector<T>& objects, std::string T::*key, Decode<T> decode) {
    if (wake_) return {};
    if (Status parsed = ParseWhole(document_, line); !parsed) return parsed;
    const JsonReader event = document_.root();
    const Result<WatchEvent> type = DecodeWatchEvent(document_, event);
    if (!type) return tl::unexpected<Error>(type.error());
    if (*type == WatchEvent::kBookmark) return {};
    const JsonReader told = event.Object("object");
    Result<T> object = decode(document_, told);
    if (!object) return tl::unexpected<Error>(std::move(object).error());
    if (!IsOurs(*object)) return {};
    const std::string name = (*object).*key;
    const bool changed =
        *type == WatchEvent::kDeleted ? Erase(objects, key, name) : Put(objects, key, *std::move(object));
    if (changed) Consider(TeamSpaceOf<T>(name));
    return {};
  }

  /// Returns whose `name` is: namespaces and quotas go by the namespace's.
  template <typename T>
  static std::string TeamSpaceOf(std::string_view name) {
    if constexpr (!std::is_same_v<T, TeamSpace>) name.remove_prefix(kNamespacePrefix.size());
    return std::string(name);
  }

  template <typename T>
  static bool IsOurs(const T& object) {
    if constexpr (std::is_same_v<T, Namespace>) return object.name.starts_with(kNamespacePrefix);
    if constexpr (std::is_same_v<T, Quota>) return object.namespace_name.starts_with(kNamespacePrefix);
    return true;
  }

  /// Something of `team_space` has changed: no other one can have work by that.
  void Consider(const std::string& team_space) {
    observation_.observed_at = setting_.now();
    if (setting_.has_work(ExcerptOf(observation_, team_space))) {
      with_work_.insert(team_space);
    } else {
      with_work_.erase(team_space);
    }
    // What was to do may be done meanwhile, by another pass; that one came is worth a look all the same.
    if (with_work_.empty() || std::exchange(found_work_, true)) return;
    client_.Abandon(kSettle);
  }

  void OnEnd(const Collection& collection, const Status& done) {
    if (wake_ || found_work_) return;
    if (Clock::now() + kSlack >= until_) return WakeUp({WakeCause::kTimeOver, {}, "nothing happened"});
    const std::string words = "watch " + std::string(collection.resource.plural) + ": ";
    if (done) return WakeUp({WakeCause::kWatchEnded, {}, words + "ended by the server"});
    const Error& error = done.error();
    if (error.code == ErrorCode::kStopped) return WakeUp({WakeCause::kToldToEnd, {}, "told to end"});
    const bool forbidden = error.code == ErrorCode::kDenied && !IsUnauthorized(error);
    if (forbidden) return WakeUp({WakeCause::kForbidden, {}, error.message});
    WakeUp({WakeCause::kWatchEnded, {}, words + error.message});
  }

  void WakeUp(Wake wake) {
    wake_ = std::move(wake);
    client_.Abandon(std::chrono::milliseconds(0));
  }

  Client& client_;
  const LingerSetting& setting_;
  Observation observation_;
  Clock::time_point until_;
  JsonDocument document_;
  std::set<std::string> with_work_;
  bool found_work_ = false;   ///< At some moment, although that may be done by now.
  std::optional<Wake> wake_;  ///< Why it ends, unless that is work.
};

}  // namespace

Wake Linger(Client& client, Observation observation, const ListVersions& versions, const LingerSetting& setting) {
  return Lingering(client, std::move(observation), setting).Run(versions);
}

}  // namespace cnpa
