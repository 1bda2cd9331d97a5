// SPDX-License-Identifier: Apache-2.0
//
// A list as it comes off the wire: split, its items decoded as each of our kinds, a plan made of what decodes, and the
// plan put into words and requests.
#include <algorithm>
#include <optional>
#include <random>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "app/render/render.h"
#include "core/teamspace/plan.h"
#include "fuzz.h"
#include "kube/codec/codec.h"
#include "kube/codec/codec_sight.h"
#include "kube/json/list_splitter.h"
#include "support/builders.h"

namespace cnpa {
namespace {

/// What became of a list.
struct Outcome {
  std::vector<std::string> items;
  std::string envelope;
  std::optional<Error> error;

  bool operator==(const Outcome&) const = default;
};

/// Splits `text` that comes in pieces of the sizes that `next_size` returns.
template <typename NextSize>
Outcome Split(std::string_view text, const NextSize& next_size) {
  Outcome outcome;
  ListSplitter splitter([&outcome](std::string& item) -> Status {
    outcome.items.push_back(item);
    return {};
  });
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(next_size(), text.size());
    // A copy of its own, so that a read past its end is seen.
    const std::string piece(text.substr(0, size));
    text.remove_prefix(size);
    if (Status fed = splitter.Feed(piece); !fed) {
      outcome.error = fed.error();
      return outcome;
    }
  }
  Require(splitter.items() == outcome.items.size(), "the splitter counts its items");
  Result<std::string> envelope = splitter.Finish();
  if (envelope) outcome.envelope = *envelope;
  if (!envelope) outcome.error = envelope.error();
  return outcome;
}

/// As text: two values that have a member twice are never equal to RapidJSON.
std::string Compact(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

/// Checks that a parse of the whole text sees the items that the splitter took out of it.
void RequireItems(std::string_view text, const std::vector<std::string>& items) {
  std::vector<rapidjson::Document> parsed(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    parsed[i].Parse<rapidjson::kParseValidateEncodingFlag>(items[i].data(), items[i].size());
    if (parsed[i].HasParseError()) return;  // Its decoder refuses it, and the list with it.
  }
  rapidjson::Document whole;
  whole.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  Require(!whole.HasParseError() && whole.IsObject() && whole.HasMember("items"), "a list that is taken is JSON");
  const rapidjson::Value& elements = whole["items"];
  Require(elements.IsArray() && elements.Size() == items.size(), "a parse of the whole sees as many items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    Require(Compact(elements[static_cast<rapidjson::SizeType>(i)]) == Compact(parsed[i]),
            "a parse of the whole sees the same items");
  }
}

/// Decodes an item in a document that was used before, and in a new one.
template <typename T>
void Decode(const std::string& item, Result<T> (*decode)(JsonDocument&, std::string&), std::vector<T>& objects) {
  static JsonDocument used;
  JsonDocument fresh;
  std::string copy = item;
  Result<T> object = decode(used, copy);
  copy = item;
  Require(decode(fresh, copy) == object, "what was decoded before leaves no trace");
  RequireValueOr(ErrorCode::kMalformed, object);
  if (object) objects.push_back(*std::move(object));
}

/// Leaves one of each name, as the pass has it.
template <typename T>
void Sort(std::vector<T>& objects, std::string T::*key) {
  std::stable_sort(objects.begin(), objects.end(), [key](const T& a, const T& b) { return a.*key < b.*key; });
  objects.erase(std::unique(objects.begin(), objects.end(), [key](const T& a, const T& b) { return a.*key == b.*key; }),
                objects.end());
}

void RequireJson(const std::string& text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  Require(!document.HasParseError(), "what is sent is JSON");
}

void RequirePath(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
  Require(plain && path.starts_with('/') && path.find("/../") == std::string::npos, "a path has no surprises in it");
  Require(std::count(path.begin(), path.end(), '?') <= 1, "a name does not begin a query");
}

void CheckChange(const Renderer& renderer, const Chain& chain, const Change& change) {
  RequireOneLine(renderer.ChangeLine(chain, change));
  if (const auto* record = std::get_if<WriteArchive>(&change.effect)) {
    const Result<WriteArchive> archive = DecodeArchive(EncodeArchive(*record));
    Require(archive && archive->uid == record->uid, "an archive can be read back");
    return;
  }
  const Request request = EncodeChange(chain, change);
  RequirePath(request.path);
  if (!request.body.empty()) RequireJson(request.body);
}

void CheckPlan(Observation observation) {
  Sort(observation.team_spaces, &TeamSpace::name);
  Sort(observation.namespaces, &Namespace::name);
  Sort(observation.quotas, &Quota::namespace_name);
  observation.observed_at = kNow;
  const Renderer renderer(kNow, {}, "/archive");
  for (const bool conditions : {true, false}) {
    observation.crd.has_conditions = conditions;
    const Plan plan = ComputePlan(observation, {});
    Require(plan == ComputePlan(observation, {}), "the same observation makes the same plan");
    for (const Chain& chain : plan.chains) {
      RequirePath(ConfirmationPath(chain));
      for (const Change& change : chain.changes) CheckChange(renderer, chain, change);
      if (chain.refusal) RequireOneLine(renderer.RefusalLine(chain.name, *chain.refusal));
    }
  }
}

}  // namespace

void Fuzz(std::string_view text) {
  const Outcome whole = Split(text, [&text] { return text.size(); });
  Require(Split(text, [] { return std::size_t{1}; }) == whole, "byte by byte a list is the same");
  std::minstd_rand random(static_cast<unsigned>(std::hash<std::string_view>()(text)));
  Require(Split(text, [&random] { return 1 + random() % 50; }) == whole, "in pieces a list is the same");
  if (whole.error) {
    Require(whole.error->code == ErrorCode::kMalformed, "the error is of the kind that is promised");
  } else {
    for (const Collection& collection : {kTeamSpaces, kNamespaces, kQuotas}) {
      const Result<ListEnvelope> envelope = DecodeEnvelope(whole.envelope, collection, whole.items.size());
      RequireValueOr(ErrorCode::kMalformed, envelope);
      if (!envelope) continue;
      Require(!envelope->resource_version.empty(), "a list has a version");
      RequireItems(text, whole.items);
    }
  }
  Observation observation;
  for (const std::string& item : whole.items) {
    Decode(item, &DecodeTeamSpace, observation.team_spaces);
    Decode(item, &DecodeNamespace, observation.namespaces);
    Decode(item, &DecodeQuota, observation.quotas);
  }
  std::erase_if(observation.namespaces, [](const Namespace& n) { return !n.name.starts_with(kNamespacePrefix); });
  CheckPlan(std::move(observation));
}

}  // namespace cnpa
