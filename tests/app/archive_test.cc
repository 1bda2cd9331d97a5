// SPDX-License-Identifier: Apache-2.0
#include "app/archive.h"

#include <fcntl.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "kube/codec.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

using Names = std::set<std::string>;

WriteArchive Record(const std::string& name, const std::string& uid = "uid-1") {
  return {.name = name,
          .uid = uid,
          .pods = 6,
          .cpu = "2",
          .generation = 2,
          .deleted_at = kEarlierText,
          .archived_at = kNowText};
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

bool IsRoot() {
  return ::geteuid() == 0;
}

TEST_CASE("Archive::Write makes the last folder, 0700, and a file in it, 0600", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  REQUIRE(ErrorOf(archive.Write(Record("red"))) == std::nullopt);
  CHECK(ModeOf(folder.Path("archive")) == 0700);
  CHECK(ModeOf(folder.Path("archive/red.json")) == 0600);
  CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
  CHECK(archive.PathOf(Record("red")) == folder.Path("archive/red.json"));
  CHECK(folder.Names("archive") == Names{"red.json"});
}

TEST_CASE("Archive::Write leaves the mode of a folder that is there", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0750) == 0);
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(ModeOf(folder.Path("archive")) == 0750);
}

TEST_CASE("Archive::Write twice of the same uid is one file, which stays as it is", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  REQUIRE(archive.Write(Record("red")));
  WriteArchive later = Record("red");
  later.archived_at = "2031-12-31T00:00:00Z";
  REQUIRE(archive.Write(later));
  REQUIRE(Archive(folder.Path("archive")).Write(later));
  CHECK(folder.Names("archive") == Names{"red.json"});
  CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
}

TEST_CASE("Archive::Write keeps an earlier archive of the same name and another uid", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  for (const std::string uid : {"uid-1", "uid-2", "uid-3"}) REQUIRE(archive.Write(Record("red", uid)));
  CHECK(folder.Names("archive") == Names{"red.json", "red.uid-1.json", "red.uid-2.json"});
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
  CHECK(folder.Names("archive") == Names{"red.json", "red.uid-1.json"});
}

TEST_CASE("Archive::Write keeps an earlier file that can't be read as an archive", "[app][archive]") {
  const TempFolder folder;
  for (const std::string content : {"", "hello", "{}", R"({"uid":"../../etc/x"})", R"({"uid":"a.b"})"}) {
    CAPTURE(content);
    std::filesystem::remove_all(folder.Path("archive"));
    folder.Write("archive/red.json", content);
    REQUIRE(ErrorOf(Archive(folder.Path("archive")).Write(Record("red"))) == std::nullopt);
    CHECK(folder.Names("archive") == Names{"red.json", "red.unreadable.json"});
    CHECK(folder.Read("archive/red.unreadable.json") == content);
    CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red")));
  }
}

TEST_CASE("Archive::Write numbers what would meet under one kept name", "[app][archive]") {
  const TempFolder folder;
  folder.Write("archive/red.json", "one");
  folder.Write("archive/red.unreadable.json", "zero");
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(folder.Names("archive") == Names{"red.json", "red.unreadable.json", "red.unreadable.2.json"});
  CHECK(folder.Read("archive/red.unreadable.json") == "zero");
  CHECK(folder.Read("archive/red.unreadable.2.json") == "one");
}

TEST_CASE("Archive::Write sweeps away what a crashed pass left half written", "[app][archive]") {
  const TempFolder folder;
  folder.Write("archive/.tmp.123", "half");
  folder.Write("archive/other.json", "kept");
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(folder.Names("archive") == Names{"other.json", "red.json"});
}

TEST_CASE("Archive::Write puts a name that no file could bear under its uid, the full name inside", "[app][archive]") {
  const TempFolder folder;
  Archive archive(folder.Path("archive"));
  const std::string name(253, 'a');
  const std::string uid(36, 'b');
  REQUIRE(ErrorOf(archive.Write(Record(name, uid))) == std::nullopt);
  CHECK(folder.Names("archive") == Names{std::string(100, 'a') + "." + uid + ".json"});
  CHECK(folder.Read("archive/" + std::string(100, 'a') + "." + uid + ".json").find(name) != std::string::npos);
  REQUIRE(archive.Write(Record(name, uid)));
  CHECK(folder.Names("archive").size() == 1);
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

TEST_CASE("Archive::Write says what is wrong with the folder", "[app][archive]") {
  const TempFolder folder;
  const std::string file = folder.Write("file", "");
  struct Case {
    std::string name;
    std::string folder;
    std::string want;
  };
  const std::vector<Case> cases{
      {"none is given", "", "no archive folder: give --archive"},
      {"its parent is missing", folder.Path("none/archive"),
       "archive folder '" + folder.Path("none/archive") +
           "': cannot make it: no such file or directory: make its parent folder first"},
      {"a file stands in its place", file, "archive folder '" + file + "': not a directory"},
      {"a file stands in its parent's place", file + "/archive",
       "archive folder '" + file + "/archive': cannot make it: not a directory"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorOf(Archive(c.folder).Write(Record("red"))) == Error{ErrorCode::kInvalid, c.want});
    }
  }
  CHECK(folder.Names() == Names{"file"});
}

TEST_CASE("Archive::Write makes the parents too of a folder that nobody named", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(Archive(folder.Path("a/b/archive"), Archive::Make::kParentsToo).Write(Record("red")));
  CHECK(folder.Names("a/b/archive") == Names{"red.json"});
}

TEST_CASE("Archive::Write says that a folder can't be written", "[app][archive]") {
  if (IsRoot()) return;  // Root may write anywhere.
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0500) == 0);
  CHECK(ErrorOf(Archive(folder.Path("archive")).Write(Record("red"))) ==
        Error{ErrorCode::kInvalid, "cannot write '" + folder.Path("archive/red.json") + "': permission denied"});
}

TEST_CASE("Archive::Write as root gives the file to the owner of the folder", "[app][archive]") {
  if (!IsRoot()) return;
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0700) == 0);
  REQUIRE(::chown(folder.Path("archive").c_str(), 12345, 54321) == 0);
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  struct stat info {};
  REQUIRE(::stat(folder.Path("archive/red.json").c_str(), &info) == 0);
  CHECK(info.st_uid == 12345);
  CHECK(info.st_gid == 54321);
}

TEST_CASE("Archive touches nothing before the first Write", "[app][archive]") {
  const TempFolder folder;
  const Archive archive(folder.Path("archive"));
  CHECK(folder.Names().empty());
}

TEST_CASE("Archive::Examine writes in a folder that is there, and leaves nothing behind", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0750) == 0);
  Archive archive(folder.Path("archive"));
  const Result<ArchiveState> state = archive.Examine();
  REQUIRE(state);
  CHECK(state->there);
  CHECK(state->looked_at == folder.Path("archive"));
  CHECK(state->mode == 0750);
  CHECK_FALSE(state->foreign);
  CHECK(state->free_bytes > 0);
  CHECK(folder.Names("archive").empty());
  REQUIRE(archive.Write(Record("red")));
}

TEST_CASE("Archive::Examine that only looks writes nothing at all", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0750) == 0);
  struct stat before {};
  REQUIRE(::stat(folder.Path("archive").c_str(), &before) == 0);
  const Result<ArchiveState> looked = Archive(folder.Path("archive")).Examine(Archive::Probe::kLook);
  REQUIRE(looked);
  CHECK(looked->there);
  struct stat after {};
  REQUIRE(::stat(folder.Path("archive").c_str(), &after) == 0);
  CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
  CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
}

TEST_CASE("Archive::Examine that only looks says what the folder lacks", "[app][archive]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0500) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0711) == 0);
  const std::string want = "archive folder '" + folder.Path("archive") + "': permission denied";
  const int code = ExitCodeOfChild([&folder, &want] {
    // Root may write anywhere.
    if (IsRoot() && (::chown(folder.Path("archive").c_str(), 65534, 65534) != 0 || ::seteuid(65534) != 0)) return 2;
    return ErrorOf(Archive(folder.Path("archive")).Examine(Archive::Probe::kLook)) == Error{ErrorCode::kInvalid, want}
               ? 0
               : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("Archive::Examine makes no folder", "[app][archive]") {
  const TempFolder folder;
  const Result<ArchiveState> last = Archive(folder.Path("archive")).Examine();
  REQUIRE(last);
  CHECK_FALSE(last->there);
  CHECK(last->looked_at == folder.path());
  const Result<ArchiveState> more = Archive(folder.Path("a/b/archive"), Archive::Make::kParentsToo).Examine();
  REQUIRE(more);
  CHECK(more->looked_at == folder.path());
  CHECK(folder.Names().empty());
}

TEST_CASE("Archive::Examine says what Write would", "[app][archive]") {
  const TempFolder folder;
  folder.Write("file", "x");
  REQUIRE(::symlink("nowhere", folder.Path("link").c_str()) == 0);
  struct Case {
    std::string folder;
    ErrorCode code;
  };
  const std::vector<Case> cases{{"", ErrorCode::kInvalid},
                                {folder.Path("none/archive"), ErrorCode::kNotFound},
                                {folder.Path("file"), ErrorCode::kInvalid},
                                {folder.Path("file/archive"), ErrorCode::kInvalid},
                                {folder.Path("link"), ErrorCode::kInvalid}};
  for (const Case& c : cases) {
    CAPTURE(c.folder);
    const std::optional<Error> examined = ErrorOf(Archive(c.folder).Examine());
    const std::optional<Error> written = ErrorOf(Archive(c.folder).Write(Record("red")));
    REQUIRE(examined);
    REQUIRE(written);
    CHECK(examined->code == c.code);
    CHECK(written->code == ErrorCode::kInvalid);
    if (c.folder != folder.Path("file/archive")) CHECK(examined->message == written->message);
  }
  CHECK(folder.Names() == Names{"file", "link"});
}

TEST_CASE("Archive::Examine sees a folder in which another user may write as root only", "[app][archive]") {
  if (!IsRoot()) return;
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0700) == 0);
  REQUIRE(::chown(folder.Path("archive").c_str(), 65534, 65534) == 0);
  CHECK(Archive(folder.Path("archive")).Examine()->foreign);
}

}  // namespace
}  // namespace cnpa
