// SPDX-License-Identifier: Apache-2.0
#include "app/stages/archive.h"

#include <fcntl.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "kube/codec/codec.h"
#include "support/archives.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

using Names = std::set<std::string>;

/// Returns what is in the folder besides the lock, which stays.
Names ArchivesIn(const TempFolder& folder) {
  Names names = folder.Names("archive");
  names.erase(kArchiveLock);
  return names;
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

TEST_CASE("Archive::Write makes the last folder, 0700, and a file in it, 0600", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  REQUIRE(archive.Write(Record("red")) == Archived::kWritten);
  CHECK(ModeOf(folder.Path("archive")) == 0700);
  CHECK(ModeOf(folder.Path("archive/red.json")) == 0600);
  CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
  CHECK(archive.PathOf(Record("red")) == folder.Path("archive/red.json"));
  CHECK(ArchivesIn(folder) == Names{"red.json"});
}

TEST_CASE("Archive::Write leaves the mode of a folder that is there", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0750) == 0);
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(ModeOf(folder.Path("archive")) == 0750);
}

TEST_CASE("Archive::Write twice of the same is one file, which stays as it is", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  REQUIRE(archive.Write(Record("red")) == Archived::kWritten);
  WriteArchive later = Record("red");
  later.archived_at = "2031-12-31T00:00:00Z";
  CHECK(archive.Write(later) == Archived::kThere);
  CHECK(Archive(folder.Path("archive")).Write(later) == Archived::kThere);
  CHECK(ArchivesIn(folder) == Names{"red.json"});
  CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
}

TEST_CASE("Archive::Write brings the archive of the same uid up to date, and never back", "[app][archive]") {
  struct Case {
    std::string name;
    WriteArchive record;
    Archived done;
  };
  const auto changed = [](std::int64_t generation, std::int64_t pods, const std::string& archived_at) {
    WriteArchive record = Record("red");
    record.generation = generation;
    record.pods = pods;
    record.archived_at = archived_at;
    return record;
  };
  const std::vector<Case> cases{
      {"a later generation", changed(3, 7, kNowText), Archived::kWritten},
      {"a later generation, of a host whose clock is behind", changed(3, 7, kEarlierText), Archived::kWritten},
      {"other content, looked at later", changed(2, 7, "2031-12-31T00:00:00Z"), Archived::kWritten},
      {"other content of the same moment", changed(2, 7, kNowText), Archived::kWritten},
      {"an earlier generation, of a pass that hung", changed(1, 7, "2031-12-31T00:00:00Z"), Archived::kThere},
      {"other content, looked at earlier", changed(2, 7, kEarlierText), Archived::kThere},
  };
  for (const Case& c : cases) {
    for (const std::string place : {"red.json", "red.uid-1.json"}) {
      DYNAMIC_SECTION(c.name << " in " << place) {
        const TempFolder folder;
        folder.Write("archive/" + place, EncodeArchive(Record("red")));
        Archive archive(folder.Path("archive"));
        CHECK(archive.Write(c.record) == c.done);
        CHECK(ArchivesIn(folder) == Names{place});
        CHECK(folder.Read("archive/" + place) ==
              EncodeArchive(c.done == Archived::kWritten ? c.record : Record("red")));
        CHECK(archive.Write(c.record) == Archived::kThere);
      }
    }
  }
}

TEST_CASE("Archive::Write keeps an earlier archive of the same name and another uid", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  for (const std::string uid : {"uid-1", "uid-2", "uid-3"}) REQUIRE(archive.Write(Record("red", uid)));
  CHECK(ArchivesIn(folder) == Names{"red.json", "red.uid-1.json", "red.uid-2.json"});
  CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red", "uid-3")));
  CHECK(folder.Read("archive/red.uid-1.json") == EncodeArchive(Record("red", "uid-1")));
  CHECK(folder.Read("archive/red.uid-2.json") == EncodeArchive(Record("red", "uid-2")));
}

TEST_CASE("Archive::Write does not archive again what was kept already", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  for (const std::string uid : {"uid-1", "uid-2", "uid-1"}) REQUIRE(archive.Write(Record("red", uid)));
  CHECK(folder.Read("archive/red.uid-1.json") == EncodeArchive(Record("red", "uid-1")));
  CHECK((folder.Read("archive/red.json") + folder.Read("archive/red.uid-2.json")).find("uid-2") != std::string::npos);
}

TEST_CASE("Archive::Write goes on after a crash between keeping and writing", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  REQUIRE(archive.Write(Record("red", "uid-1")));
  REQUIRE(::link(folder.Path("archive/red.json").c_str(), folder.Path("archive/red.uid-1.json").c_str()) == 0);
  REQUIRE(archive.Write(Record("red", "uid-2")));
  CHECK(ArchivesIn(folder) == Names{"red.json", "red.uid-1.json"});
}

TEST_CASE("Archive::Write keeps an earlier file that can't be read as an archive", "[app][archive]") {
  const TempFolder folder;
  for (const std::string content :
       {"", "hello", "{}", R"({"uid":"uid-1"})", R"({"name":"red","uid":"uid-1"})",
        R"({"name":"red","uid":"../../etc/x","pods":1})", R"({"name":"red","uid":"a.b","pods":null})"}) {
    CAPTURE(content);
    std::filesystem::remove_all(folder.Path("archive"));
    folder.Write("archive/red.json", content);
    REQUIRE(ErrorOf(Archive(folder.Path("archive")).Write(Record("red"))) == std::nullopt);
    CHECK(ArchivesIn(folder) == Names{"red.json", "red.unreadable.json"});
    CHECK(folder.Read("archive/red.unreadable.json") == content);
    CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
  }
}

TEST_CASE("Archive::Write numbers what would meet under one kept name", "[app][archive]") {
  const TempFolder folder;
  folder.Write("archive/red.json", "one");
  folder.Write("archive/red.unreadable.json", "zero");
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(ArchivesIn(folder) == Names{"red.json", "red.unreadable.json", "red.unreadable.2.json"});
  CHECK(folder.Read("archive/red.unreadable.json") == "zero");
  CHECK(folder.Read("archive/red.unreadable.2.json") == "one");
}

TEST_CASE("Archive::Write leaves alone what stands in the place of a kept archive", "[app][archive]") {
  for (const bool is_later : {false, true}) {
    CAPTURE(is_later);
    const TempFolder folder;
    folder.Write("archive/red.uid-1.json", R"({"uid":"uid-1"})");
    if (is_later) folder.Write("archive/red.json", EncodeArchive(Record("red", "uid-2")));
    REQUIRE(Archive(folder.Path("archive")).Write(Record("red", "uid-1")) == Archived::kWritten);
    CHECK(folder.Read("archive/red.uid-1.json") == R"({"uid":"uid-1"})");
    CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red", "uid-1")));
    CHECK(folder.Read("archive/red.uid-2.json") == (is_later ? EncodeArchive(Record("red", "uid-2")) : ""));
  }
}

TEST_CASE("Archive::Write sweeps away what a crashed pass left half written, and nothing of others", "[app][archive]") {
  const TempFolder folder;
  for (const std::string name : {".cnpa-op.tmp.123", ".cnpa-op.new.4", ".tmp.precious", "other.json"}) {
    folder.Write("archive/" + name, "half");
  }
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(ArchivesIn(folder) == Names{".cnpa-op.new.4", ".tmp.precious", "other.json", "red.json"});
}

TEST_CASE("Archive::Write puts a name that no file could bear under its uid, the full name inside", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  const std::string name(253, 'a');
  const std::string uid(36, 'b');
  REQUIRE(ErrorOf(archive.Write(Record(name, uid))) == std::nullopt);
  CHECK(ArchivesIn(folder) == Names{std::string(100, 'a') + "." + uid + ".json"});
  CHECK(folder.Read("archive/" + std::string(100, 'a') + "." + uid + ".json").find(name) != std::string::npos);
  CHECK(archive.Write(Record(name, uid)) == Archived::kThere);
  CHECK(ArchivesIn(folder).size() == 1);
}

TEST_CASE("Archive::Write keeps what stands in the place of a name that no file could bear", "[app][archive]") {
  const TempFolder folder;
  const std::string name(253, 'a');
  const std::string stem = std::string(100, 'a') + "." + std::string(36, 'b');
  folder.Write("archive/" + stem + ".json", "cut sho");
  REQUIRE(ErrorOf(Archive(folder.Path("archive")).Write(Record(name, std::string(36, 'b')))) == std::nullopt);
  CHECK(ArchivesIn(folder) == Names{stem + ".json", stem + ".unreadable.json"});
  CHECK(folder.Read("archive/" + stem + ".unreadable.json") == "cut sho");
}

TEST_CASE("ArchiveFileName shortens names of more than 150 characters", "[app][archive]") {
  CHECK(ArchiveFileName("red", "u") == "red.json");
  CHECK(ArchiveFileName("a.b", "u") == "a.b.json");
  CHECK(ArchiveFileName(std::string(150, 'a'), "u") == std::string(150, 'a') + ".json");
  CHECK(ArchiveFileName(std::string(151, 'a'), "u") == std::string(100, 'a') + ".u.json");
}

TEST_CASE("Archive::Write does not follow a link that stands in its place", "[app][archive]") {
  const TempFolder folder;
  folder.Write("target", "kept");
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0700) == 0);
  REQUIRE(::symlink("../target", folder.Path("archive/red.json").c_str()) == 0);
  CHECK_FALSE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(folder.Read("target") == "kept");
}

}  // namespace
}  // namespace cnpa
