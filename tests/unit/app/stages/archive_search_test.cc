// SPDX-License-Identifier: Apache-2.0
#include "app/stages/archive_search.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/stages/archive.h"
#include "kube/codec/codec.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

WriteArchive Record(const std::string& name, const std::string& uid, const std::string& archived_at) {
  return {
      .name = name, .uid = uid, .pods = 4, .cpu = "1", .generation = 2, .deleted_at = "d", .archived_at = archived_at};
}

void Put(const std::string& folder, const std::string& file, const std::string& text) {
  std::ofstream(folder + "/" + file) << text;
}

std::vector<std::string> FilesOf(const ArchiveSearch& search) {
  std::vector<std::string> files;
  for (const ArchiveFile& file : search.files) files.push_back(file.file);
  return files;
}

TEST_CASE("FindArchives finds what Archive wrote of a name, the latest first, and nothing of another",
          "[app][archive_search]") {
  const TempFolder temp;
  const std::string folder = temp.path() + "/archive";
  const std::string long_name(200, 'a');
  CHECK(FindArchives(folder, "red") == ArchiveSearch{.folder = folder});
  Archive archive(folder);
  REQUIRE(archive.Write(Record("red", "1", "2031-01-01T00:00:00Z")));
  REQUIRE(archive.Write(Record("red", "2", "2031-01-02T00:00:00Z")));
  REQUIRE(archive.Write(Record("red.x", "3", "2031-01-03T00:00:00Z")));
  REQUIRE(archive.Write(Record("redder", "4", "2031-01-03T00:00:00Z")));
  REQUIRE(archive.Write(Record(long_name, "5", "2031-01-03T00:00:00Z")));
  REQUIRE(archive.Write(Record(long_name + "b", "6", "2031-01-03T00:00:00Z")));
  const ArchiveSearch red = FindArchives(folder, "red");
  CHECK(FilesOf(red) == std::vector<std::string>{"red.json", "red.1.json"});
  CHECK(red.files[0].record == Record("red", "2", "2031-01-02T00:00:00Z"));
  CHECK(FilesOf(FindArchives(folder, long_name)) == std::vector<std::string>{std::string(100, 'a') + ".5.json"});
  CHECK(FindArchives(folder, "blue").files.empty());
  CHECK(FindArchives(folder, "../archive/red").files.empty());
}

TEST_CASE("FindArchives says what it can't read", "[app][archive_search]") {
  const TempFolder temp;
  Put(temp.path(), "red.json", "{");
  Put(temp.path(), "red.unreadable.json", R"({"name":"red"})");
  Put(temp.path(), "red.other.json", "{");
  const ArchiveSearch red = FindArchives(temp.path(), "red");
  REQUIRE(FilesOf(red) == std::vector<std::string>{"red.unreadable.json", "red.json"});
  CHECK(red.files[0].problem == "'uid' is missing");
  CHECK(red.files[1].problem.starts_with("not JSON at byte"));
  const std::string file = temp.path() + "/red.json";
  CHECK(FindArchives(file, "red").problem == "archive folder '" + file + "': not a directory");
  CHECK(FindArchives("", "red") == ArchiveSearch{});
}

}  // namespace
}  // namespace cnpa
