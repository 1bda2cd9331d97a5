// SPDX-License-Identifier: Apache-2.0
#include "app/fight_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

#include "base/file.h"
#include "kube/json.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

constexpr const char* kFileName = "repairs.json";
constexpr std::size_t kLargestBytes = std::size_t{1} << 20U;
constexpr std::int64_t kVersion = 1;

Time TimeAt(const JsonReader& entry, std::string_view key) {
  const Result<Time> time = ParseTime(entry.String(key));
  if (!time) entry.Fail(key, "is no time");
  return time.value_or(Time{});
}

}  // namespace

std::string DefaultRuntimeFolder(const Environment& environment, bool is_root) {
  if (const auto folder = environment("RUNTIME_DIRECTORY")) return folder->substr(0, folder->find(':'));
  if (is_root) return "/run/cnpa-op";
  if (const auto folder = environment("XDG_RUNTIME_DIR")) return *folder + "/cnpa-op";
  return {};
}

std::string EncodeFights(const FightRecord& record) {
  JsonWriter json;
  json.Object([&] {
    json.Int("version", kVersion);
    json.Array("repairs", [&] {
      for (const auto& [key, repairs] : record.entries()) {
        json.Object([&, &key = key, &repairs = repairs] {
          json.String("uid", key.uid);
          json.String("object", key.object);
          json.String("subject", key.subject);
          json.String("manager", key.manager);
          json.Int("count", static_cast<std::int64_t>(repairs.count));
          json.String("first", FormatTime(repairs.first));
          json.String("last", FormatTime(repairs.last));
        });
      }
    });
  });
  return json.text() + "\n";
}

Result<FightRecord> DecodeFights(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  if (root.IntIfPresent("version") != kVersion) root.Fail("version", "is another one");
  FightRecord record;
  for (const JsonReader& entry : root.Objects("repairs")) {
    const std::int64_t count = entry.IntIfPresent("count").value_or(0);
    if (count < 1) entry.Fail("count", "is no number of repairs");
    record.Put(
        {.uid = entry.String("uid"),
         .object = entry.String("object"),
         .subject = entry.String("subject"),
         .manager = entry.OptionalString("manager")},
        {.count = static_cast<std::uint64_t>(count), .first = TimeAt(entry, "first"), .last = TimeAt(entry, "last")});
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return record;
}

Result<FightRecord> LoadFights(const std::string& folder) {
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd) return FightRecord();  // Writing will tell.
  FileFacts facts{.is_regular = true, .is_ours = true};
  Result<std::string> text = ReadFileAt(folder_fd.get(), folder, kFileName, kLargestBytes, &facts);
  if (!facts.is_regular || !facts.is_ours || facts.writable_by_others) {
    return Fail(ErrorCode::kInvalid, "'" + folder + "/" + kFileName + "' is not a file that only we write");
  }
  if (!text && text.error().code == ErrorCode::kNotFound) return FightRecord();
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  Result<FightRecord> record = DecodeFights(*std::move(text));
  if (!record) return Annotate(std::move(record).error(), "'" + folder + "/" + kFileName + "'");
  return record;
}

Status SaveFights(const std::string& folder, const FightRecord& record) {
  ::mkdir(folder.c_str(), 0700);  // Where that fails, the next step says why.
  return ReplaceFile(folder + "/" + kFileName, EncodeFights(record), 0600);
}

}  // namespace cnpa
