// SPDX-License-Identifier: Apache-2.0
//
// The folder of the archives: what it may be, whose, on which file system, and who else is in it.
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <set>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "app/stages/archive.h"
#include "kube/codec/codec.h"
#include "support/archives.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/failing_calls.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using Names = std::set<std::string>;

struct stat InfoOf(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info;
}

bool IsRoot() {
  return ::geteuid() == 0;
}

/// Somebody else who holds the lock of a folder.
class Holder {
 public:
  explicit Holder(const std::string& folder)
      : fd_(::open((folder + "/" + kArchiveLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    REQUIRE(::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0);
  }
  void LetGo() { ::flock(fd_.get(), LOCK_UN); }

 private:
  UniqueFd fd_;
};

TEST_CASE("Archive::Write says what is wrong with the folder", "[app][archive_folder]") {
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

TEST_CASE("Archive::Write makes the parents too of a folder that nobody named", "[app][archive_folder]") {
  const TempFolder folder;
  REQUIRE(Archive(folder.Path("a/b/archive"), Archive::Make::kParentsToo).Write(Record("red")));
  CHECK(folder.Names("a/b/archive") == Names{kArchiveLock, "red.json"});
}

TEST_CASE("Archive::Write syncs the folder above one that may be new", "[app][archive_folder]") {
  const TempFolder folder;
  const FailingCalls calls({});
  const std::string archive = folder.Path("a/b/archive");
  REQUIRE(Archive(archive, Archive::Make::kParentsToo).Write(Record("red")));
  const std::vector<std::string>& synced = FailingCalls::SyncedFolders();
  const std::set<std::string> all(synced.begin(), synced.end());
  CHECK(all == Names{folder.path(), folder.Path("a"), folder.Path("a/b"), archive});
  CHECK(synced.back() == archive);
  SECTION("not again once it has been used") {
    const FailingCalls later({});
    REQUIRE(Archive(archive).Write(Record("blue")));
    CHECK(std::set<std::string>(synced.begin(), synced.end()) == Names{archive});
  }
  SECTION("where whoever made it did not come to that") {
    REQUIRE(::mkdir(folder.Path("fresh").c_str(), 0700) == 0);
    const FailingCalls later({});
    REQUIRE(Archive(folder.Path("fresh/")).Write(Record("blue")));
    CHECK(synced.front() == folder.path());
  }
}

TEST_CASE("Archive says that a folder can't be written", "[app][archive_folder]") {
  const TempFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0711) == 0);
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0500) == 0);
  if (IsRoot()) REQUIRE(::chown(folder.Path("archive").c_str(), kNobody, kNobody) == 0);
  const Error want{ErrorCode::kInvalid, "archive folder '" + folder.Path("archive") + "': permission denied"};
  const int code = ExitCodeAsNobody([&] {
    if (ErrorOf(Archive(folder.Path("archive")).Write(Record("red"))) != want) return 1;
    return ErrorOf(Archive(folder.Path("archive")).Examine(Archive::Probe::kLook)) == want ? 0 : 2;
  });
  CHECK(code == 0);
}

TEST_CASE("Archive::Write as root gives all files to the owner of the folder", "[app][archive_folder]") {
  if (!IsRoot()) {
    WARN("not run: only root may give files away");
    return;
  }
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0700) == 0);
  REQUIRE(::chown(folder.Path("archive").c_str(), 12345, 54321) == 0);
  CHECK(Archive(folder.Path("archive")).Examine()->foreign);
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  for (const std::string file : {"red.json", kArchiveLock}) {
    CAPTURE(file);
    const struct stat info = InfoOf(folder.Path("archive/" + file));
    CHECK(info.st_uid == 12345);
    CHECK(info.st_gid == 54321);
    CHECK((info.st_mode & 07777U) == 0600);
  }
}

TEST_CASE("Archive uses another user's folder by the permissions of its group", "[app][archive_folder]") {
  if (!IsRoot()) {
    WARN("not run: needs a folder of another user");
    return;
  }
  struct Case {
    std::string name;
    gid_t group;
    mode_t mode;
    std::string want;  ///< What is wrong; empty: nothing.
  };
  const std::vector<Case> cases{
      {"a volume of a pod", kNobody, 02770, ""},
      {"without the bit that hands the group down", kNobody, 0770, ""},
      {"others may read it", kNobody, 02775, ""},
      {"others may write it", kNobody, 02777, "belongs to another user (uid 0), and everybody may write there"},
      {"the group may only read", kNobody, 02750, "belongs to another user (uid 0)"},
      {"another group", 54321, 02770, "belongs to another user (uid 0)"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const TempFolder folder;
      const std::string archive = folder.Path("archive");
      REQUIRE(::chmod(folder.path().c_str(), 0711) == 0);
      REQUIRE(::mkdir(archive.c_str(), 0700) == 0);
      REQUIRE(::chown(archive.c_str(), 0, c.group) == 0);
      REQUIRE(::chmod(archive.c_str(), c.mode) == 0);
      const std::optional<Error> want = c.want.empty()
                                            ? std::optional<Error>()
                                            : Error{ErrorCode::kInvalid, "archive folder '" + archive + "': " + c.want};
      const int code = ExitCodeAsNobody([&] {
        const Result<ArchiveState> state = Archive(archive).Examine();
        // Another group's folder can't even be opened.
        if (c.group != kNobody) return !state && !Archive(archive).Write(Record("red")) ? 0 : 1;
        if (ErrorOf(state) != want || (state && !state->by_group)) return 2;
        return ErrorOf(Archive(archive).Write(Record("red"))) == want ? 0 : 3;
      });
      CHECK(code == 0);
      if (c.want.empty()) {
        const struct stat file = InfoOf(archive + "/red.json");
        const struct stat lock = InfoOf(archive + "/" + kArchiveLock);
        CHECK(file.st_uid == kNobody);
        CHECK(file.st_gid == kNobody);
        CHECK((file.st_mode & 07777U) == 0640);
        CHECK((lock.st_mode & 07777U) == 0660);
      }
    }
  }
}

TEST_CASE("Archive in a volume of a pod goes on when the pod runs as another user", "[app][archive_folder]") {
  if (!IsRoot()) {
    WARN("not run: needs two other users");
    return;
  }
  const TempFolder folder;
  const std::string archive = folder.Path("archive");
  REQUIRE(::chmod(folder.path().c_str(), 0711) == 0);
  REQUIRE(::mkdir(archive.c_str(), 0700) == 0);
  REQUIRE(::chown(archive.c_str(), 12345, kNobody) == 0);
  REQUIRE(::chmod(archive.c_str(), 02770) == 0);
  const auto write_as = [&](uid_t user, const std::string& uid) {
    return ExitCodeOfChild([&] {
      if (::setgroups(0, nullptr) != 0 || ::setegid(kNobody) != 0 || ::seteuid(user) != 0) return -1;
      return Archive(archive).Write(Record("red", uid)) == Archived::kWritten ? 0 : 1;
    });
  };
  CHECK(write_as(12345, "uid-1") == 0);
  CHECK(write_as(12346, "uid-2") == 0);
  CHECK(write_as(12347, "uid-3") == 0);
  CHECK(folder.Names("archive") == Names{kArchiveLock, "red.json", "red.uid-1.json", "red.uid-2.json"});
  CHECK(folder.Read("archive/red.uid-1.json") == EncodeArchive(Record("red", "uid-1")));
}

TEST_CASE("Archive works on a file system that has not all, and says what is missing", "[app][archive_folder]") {
  struct Case {
    std::string name;
    FailingCalls::Errors errors;
    MissingFeatures missing;
  };
  const MissingFeatures no_sync{.folder_sync = true};
  const MissingFeatures no_links{.hard_links = true};
  const MissingFeatures no_locks{.locks = true};
  const std::vector<Case> cases{
      {"all is there", {}, {}},
      {"folders are not synced on SMB", {.folder_sync = EINVAL}, no_sync},
      {"folders are not synced on some FUSE", {.folder_sync = EOPNOTSUPP}, no_sync},
      {"folders are not synced on others", {.folder_sync = ENOSYS}, no_sync},
      {"no links on exFAT", {.link = EPERM}, no_links},
      {"no links on SMB", {.link = EOPNOTSUPP}, no_links},
      {"no links on FUSE", {.link = ENOSYS}, no_links},
      {"a file has too many already", {.link = EMLINK}, no_links},
      {"no locks on NFS without its daemon", {.lock = ENOLCK}, no_locks},
      {"no locks on FUSE", {.lock = ENOSYS}, no_locks},
      {"no locks at all", {.lock = EOPNOTSUPP}, no_locks},
      {"nothing", {.folder_sync = EINVAL, .link = EPERM, .lock = ENOLCK}, {true, true, true}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const TempFolder folder;
      const FailingCalls failing(c.errors);
      Archive archive(folder.Path("archive"));
      for (const std::string uid : {"uid-1", "uid-2", "uid-3"}) {
        REQUIRE(archive.Write(Record("red", uid)) == Archived::kWritten);
        CHECK(archive.Write(Record("red", uid)) == Archived::kThere);
      }
      CHECK(archive.Write(Record("red", "uid-1")) == Archived::kThere);
      CHECK(folder.Names("archive") == Names{kArchiveLock, "red.json", "red.uid-1.json", "red.uid-2.json"});
      CHECK(folder.Read("archive/red.json") == EncodeArchive(Record("red", "uid-3")));
      CHECK(folder.Read("archive/red.uid-1.json") == EncodeArchive(Record("red", "uid-1")));
      CHECK(folder.Read("archive/red.uid-2.json") == EncodeArchive(Record("red", "uid-2")));
      const std::string words = MissingWords(c.missing);
      CHECK(archive.DescribeMissing() ==
            (words.empty() ? "" : "archive folder '" + folder.Path("archive") + "': its file system " + words));
      CHECK(Archive(folder.Path("archive")).Examine()->missing == c.missing);
      CHECK(folder.Names("archive").size() == 4);
    }
  }
}

TEST_CASE("Archive goes on after a crash behind the copy of an earlier archive", "[app][archive_folder]") {
  const TempFolder folder;
  const FailingCalls failing({.link = EPERM});
  const std::string earlier = EncodeArchive(Record("red", "uid-1"));
  folder.Write("archive/red.json", earlier);
  folder.Write("archive/red.uid-1.json", earlier);
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red", "uid-2")) == Archived::kWritten);
  CHECK(folder.Names("archive") == Names{kArchiveLock, "red.json", "red.uid-1.json"});
}

TEST_CASE("Archive numbers the copies that would meet under one name", "[app][archive_folder]") {
  const TempFolder folder;
  const FailingCalls failing({.link = EPERM});
  folder.Write("archive/red.json", "one");
  folder.Write("archive/red.unreadable.json", "zero");
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")) == Archived::kWritten);
  CHECK(folder.Read("archive/red.unreadable.json") == "zero");
  CHECK(folder.Read("archive/red.unreadable.2.json") == "one");
}

TEST_CASE("Archive takes no other failure for what a file system does not have", "[app][archive_folder]") {
  struct Case {
    FailingCalls::Errors errors;
    std::string want;  ///< With FOLDER for the folder.
  };
  const std::vector<Case> cases{
      {{.folder_sync = EIO}, "cannot sync the folder 'FOLDER': input/output error"},
      {{.link = EDQUOT},
       "archive folder 'FOLDER': cannot keep 'red.json' as 'red.uid-0.json': " + SystemMessage(EDQUOT)},
      {{.lock = EIO}, "archive folder 'FOLDER': cannot lock it: input/output error"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.want) {
      const TempFolder folder;
      const std::string archive = folder.Path("archive");
      const std::string earlier = EncodeArchive(Record("red", "uid-0"));
      folder.Write("archive/red.json", earlier);
      folder.Write(std::string("archive/") + kArchiveLock, "");
      std::string want = c.want;
      want.replace(want.find("FOLDER"), 6, archive);
      const FailingCalls failing(c.errors);
      CHECK(ErrorOf(Archive(archive).Write(Record("red"))) == Error{ErrorCode::kInvalid, want});
      CHECK_FALSE(Archive(archive).Examine());
      CHECK((folder.Read("archive/red.json") == earlier || folder.Read("archive/red.uid-0.json") == earlier));
    }
  }
}

TEST_CASE("Archive without locks leaves the temporary files of other passes alone", "[app][archive_folder]") {
  const TempFolder folder;
  folder.Write("archive/.cnpa-op.tmp.1", "half");
  const FailingCalls failing({.lock = ENOLCK});
  REQUIRE(Archive(folder.Path("archive")).Write(Record("red")));
  CHECK(folder.Names("archive") == Names{kArchiveLock, ".cnpa-op.tmp.1", "red.json"});
}

TEST_CASE("Archive::Write never waits for the lock, and gives up once it was held too long", "[app][archive_folder]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0700) == 0);
  Holder holder(folder.Path("archive"));
  Archive archive(folder.Path("archive"), Archive::Make::kLastOnly, milliseconds(60));
  CHECK(archive.Write(Record("red")) == Archived::kBusy);
  CHECK(archive.Write(Record("blue")) == Archived::kBusy);
  CHECK(folder.Names("archive") == Names{kArchiveLock});
  std::this_thread::sleep_for(milliseconds(80));
  const Error want{ErrorCode::kInvalid, "archive folder '" + folder.Path("archive") +
                                            "': another process has held its lock for 60 ms: see fuser -v " +
                                            folder.Path("archive/.cnpa-op.lock")};
  CHECK(ErrorOf(archive.Write(Record("red"))) == want);
  CHECK(ErrorOf(archive.Write(Record("blue"))) == want);  // At once: all of a pass wait but once.
  CHECK(Archive(folder.Path("archive")).Examine()->busy);
  holder.LetGo();
  CHECK(archive.Write(Record("red")) == Archived::kWritten);
  CHECK_FALSE(Archive(folder.Path("archive")).Examine()->busy);
}

TEST_CASE("Archive does not care who locks the folder itself", "[app][archive_folder]") {
  const TempFolder folder;
  REQUIRE(::mkdir(folder.Path("archive").c_str(), 0755) == 0);
  const UniqueFd fd(::open(folder.Path("archive").c_str(), O_RDONLY | O_DIRECTORY));
  REQUIRE(::flock(fd.get(), LOCK_EX | LOCK_NB) == 0);
  CHECK(Archive(folder.Path("archive")).Write(Record("red")) == Archived::kWritten);
}

TEST_CASE("Archive touches nothing before the first Write", "[app][archive_folder]") {
  const TempFolder folder;
  const Archive archive(folder.Path("archive"));
  CHECK(folder.Names().empty());
}

TEST_CASE("Archive::Examine writes in a folder that is there, and leaves nothing behind", "[app][archive_folder]") {
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

TEST_CASE("Archive::Examine that only looks writes nothing at all", "[app][archive_folder]") {
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

TEST_CASE("Archive::Examine makes no folder", "[app][archive_folder]") {
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

TEST_CASE("Archive::Examine says what Write would", "[app][archive_folder]") {
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

}  // namespace
}  // namespace cnpa
