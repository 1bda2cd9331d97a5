// SPDX-License-Identifier: Apache-2.0
#include "app/pass/memory_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "kube/json/json.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr const char* kFileName = "memory.json";
constexpr std::size_t kLargestBytes = std::size_t{16} << 20U;
constexpr std::int64_t kVersion = 1;

/// How often, and when.
struct Span {
  std::uint64_t count = 0;
  Time first{};
  Time last{};
};

Time TimeAt(const JsonReader& entry, std::string_view key) {
  const Result<Time> time = ParseTime(entry.String(key));
  if (!time) entry.Fail(key, "is no time");
  return time.value_or(Time{});
}

Span DecodeSpan(const JsonReader& entry) {
  const std::int64_t count = entry.IntIfPresent("count").value_or(0);
  if (count < 1) entry.Fail("count", "is not a positive number");
  return {static_cast<std::uint64_t>(count), TimeAt(entry, "first"), TimeAt(entry, "last")};
}

void EncodeSpan(JsonWriter& json, const Span& span) {
  json.Int("count", static_cast<std::int64_t>(span.count));
  json.String("first", FormatTime(span.first));
  json.String("last", FormatTime(span.last));
}

void EncodeRepairs(JsonWriter& json, const FightKey& key, const Repairs& repairs) {
  json.Object([&] {
    json.String("uid", key.uid);
    json.String("object", key.object);
    json.String("subject", key.subject);
    json.String("manager", key.manager);
    EncodeSpan(json, {repairs.count, repairs.first, repairs.last});
  });
}

void EncodeSetback(JsonWriter& json, const std::string& uid, const Setback& setback) {
  json.Object([&] {
    json.String("uid", uid);
    json.String("words", setback.words);
    json.Array("altered", [&] {
      for (const std::string& field : setback.altered) json.String(field);
    });
    EncodeSpan(json, {setback.count, setback.first, setback.last});
  });
}

void DecodeRepairs(const JsonReader& entry, FightRecord& record) {
  FightKey key{.uid = entry.String("uid"),
               .object = entry.String("object"),
               .subject = entry.String("subject"),
               .manager = entry.OptionalString("manager")};
  const Span span = DecodeSpan(entry);
  record.Put(std::move(key), {.count = span.count, .first = span.first, .last = span.last});
}

void DecodeSetback(const JsonReader& entry, SetbackRecord& record) {
  std::string uid = entry.String("uid");
  const Span span = DecodeSpan(entry);
  record.Put(std::move(uid), {.words = entry.OptionalString("words"),
                              .altered = entry.Strings("altered"),
                              .count = span.count,
                              .first = span.first,
                              .last = span.last});
}

}  // namespace

std::string DefaultRuntimeFolder(const Environment& environment, bool is_root) {
  if (const auto folder = environment("RUNTIME_DIRECTORY")) return folder->substr(0, folder->find(':'));
  if (is_root) return "/run/cnpa-op";
  if (const auto folder = environment("XDG_RUNTIME_DIR")) return *folder + "/cnpa-op";
  return {};
}

std::string EncodeMemory(const PassMemory& memory) {
  JsonWriter json;
  json.Object([&] {
    json.Int("version", kVersion);
    json.Array("repairs", [&] {
      for (const auto& [key, repairs] : memory.repairs.entries()) EncodeRepairs(json, key, repairs);
    });
    json.Array("setbacks", [&] {
      for (const auto& [uid, setback] : memory.setbacks.entries()) EncodeSetback(json, uid, setback);
    });
  });
  return json.text() + "\n";
}

Result<PassMemory> DecodeMemory(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  if (root.IntIfPresent("version") != kVersion) root.Fail("version", "is another one");
  PassMemory memory;
  for (const JsonReader& entry : root.Objects("repairs")) DecodeRepairs(entry, memory.repairs);
  for (const JsonReader& entry : root.Objects("setbacks")) DecodeSetback(entry, memory.setbacks);
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return memory;
}

Result<PassMemory> LoadMemory(const std::string& folder) {
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd) return PassMemory();  // Writing will tell.
  FileFacts facts{.is_regular = true, .is_ours = true};
  Result<std::string> text = ReadFileAt(folder_fd.get(), folder, kFileName, kLargestBytes, &facts);
  // Root may read what is the folder's owner's.
  const bool is_ours = facts.is_ours || (::geteuid() == 0 && !FactsOf(folder_fd.get()).writable_by_others);
  if (!facts.is_regular || !is_ours || facts.writable_by_others) {
    return Fail(ErrorCode::kInvalid, "'" + folder + "/" + kFileName + "' is not a file that only we write");
  }
  if (!text && text.error().code == ErrorCode::kNotFound) return PassMemory();
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  Result<PassMemory> memory = DecodeMemory(*std::move(text));
  if (!memory) return Annotate(std::move(memory).error(), "'" + folder + "/" + kFileName + "'");
  return memory;
}

Status SaveMemory(const std::string& folder, const PassMemory& memory) {
  ::mkdir(folder.c_str(), 0700);  // Where that fails, the next step says why.
  return ReplaceFile(folder + "/" + kFileName, EncodeMemory(memory), 0600);
}

}  // namespace cnpa
