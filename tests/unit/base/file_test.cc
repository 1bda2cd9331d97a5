// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "support/catch.h"
#include "support/failing_calls.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST_CASE("ReadFile returns all bytes of a file", "[base][file]") {
  const TempFolder folder;
  const std::string bytes = std::string("a\0b\n\xff", 5) + std::string(100000, 'x');
  folder.Write("file", bytes);
  folder.Write("empty", "");
  CHECK(ReadFile(folder.Path("file")) == bytes);
  CHECK(ReadFile(folder.Path("empty")) == "");
}

TEST_CASE("ReadFile follows a symbolic link", "[base][file]") {
  const TempFolder folder;
  folder.Write("file", "text");
  REQUIRE(::symlink("file", folder.Path("link").c_str()) == 0);
  CHECK(ReadFile(folder.Path("link")) == "text");
}

TEST_CASE("ReadFile names the file and the system's reason", "[base][file]") {
  const TempFolder folder;
  const std::string missing = folder.Path("missing");
  CHECK(ErrorOf(ReadFile(missing)) ==
        Error{ErrorCode::kNotFound, "cannot read '" + missing + "': no such file or directory"});
  CHECK(ErrorOf(ReadFile(folder.path())) ==
        Error{ErrorCode::kInvalid, "cannot read '" + folder.path() + "': is a directory"});
}

TEST_CASE("ReadFile waits for nobody who may never write, and takes /dev/null", "[base][file]") {
  const TempFolder folder;
  const std::string fifo = folder.Path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Error want{ErrorCode::kInvalid, "cannot read '" + fifo + "': not a regular file"};
  CHECK(ErrorOf(ReadFile(fifo)) == want);
  const UniqueFd writer(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  CHECK(ErrorOf(ReadFile(fifo)) == want);
  REQUIRE(::symlink("fifo", folder.Path("link").c_str()) == 0);
  CHECK_FALSE(ReadFile(folder.Path("link")));
  const UniqueFd fd = OpenFolder(folder.path());
  CHECK(ErrorOf(ReadFileAt(fd.get(), folder.path(), "fifo", 10)) == want);
  CHECK(ReadFile("/dev/null") == "");
}

TEST_CASE("ReadFile refuses a file larger than the limit", "[base][file]") {
  const TempFolder folder;
  const std::string path = folder.Write("file", "12345");
  CHECK(ReadFile(path, 5) == "12345");
  CHECK(ErrorOf(ReadFile(path, 4)) == Error{ErrorCode::kInvalid, "cannot read '" + path + "': larger than 4 bytes"});
}

TEST_CASE("ReadFileAt does not follow a symbolic link", "[base][file]") {
  const TempFolder folder;
  folder.Write("file", "text");
  REQUIRE(::symlink("file", folder.Path("link").c_str()) == 0);
  const UniqueFd fd = OpenFolder(folder.path());
  CHECK(ReadFileAt(fd.get(), folder.path(), "file", 10) == "text");
  CHECK(ErrorOf(ReadFileAt(fd.get(), folder.path(), "link", 10)) ==
        Error{ErrorCode::kInvalid, "cannot read '" + folder.Path("link") + "': too many levels of symbolic links"});
  CHECK(ErrorOf(ReadFileAt(fd.get(), folder.path(), "none", 10)) ==
        Error{ErrorCode::kNotFound, "cannot read '" + folder.Path("none") + "': no such file or directory"});
}

TEST_CASE("WriteFileDurably leaves the whole file, private, and nothing else", "[base][file]") {
  const TempFolder folder;
  const UniqueFd fd = OpenFolder(folder.path());
  REQUIRE(WriteFileDurably(fd.get(), folder.path(), "a.json", "one"));
  CHECK(folder.Names() == std::set<std::string>{"a.json"});
  CHECK(folder.Read("a.json") == "one");
  struct stat info {};
  REQUIRE(::stat(folder.Path("a.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0600U);
  CHECK(info.st_uid == ::geteuid());
}

TEST_CASE("WriteFileDurably replaces a file, not what a link points to", "[base][file]") {
  const TempFolder folder;
  folder.Write("other", "kept");
  REQUIRE(::symlink("other", folder.Path("a.json").c_str()) == 0);
  const UniqueFd fd = OpenFolder(folder.path());
  REQUIRE(WriteFileDurably(fd.get(), folder.path(), "a.json", "new"));
  CHECK(folder.Read("a.json") == "new");
  CHECK(folder.Read("other") == "kept");
  REQUIRE(WriteFileDurably(fd.get(), folder.path(), "a.json", "newer"));
  CHECK(folder.Read("a.json") == "newer");
}

TEST_CASE("WriteFileDurably gives the file to the owner that is asked for", "[base][file]") {
  if (::geteuid() != 0) {
    WARN("not run: only root may give files away");
    return;
  }
  const TempFolder folder;
  const UniqueFd fd = OpenFolder(folder.path());
  REQUIRE(WriteFileDurably(fd.get(), folder.path(), "a.json", "one", {.owner = 12345, .group = 54321}));
  struct stat info {};
  REQUIRE(::stat(folder.Path("a.json").c_str(), &info) == 0);
  CHECK(info.st_uid == 12345);
  CHECK(info.st_gid == 54321);
}

TEST_CASE("WriteFileDurably leaves a file to its writer alone where its group can't be given", "[base][file]") {
  const TempFolder folder;
  const UniqueFd fd = OpenFolder(folder.path());
  const FailingCalls failing({.chown = EPERM});
  REQUIRE(WriteFileDurably(fd.get(), folder.path(), "a.json", "one", {.group = 54321, .mode = 0640}));
  struct stat info {};
  REQUIRE(::stat(folder.Path("a.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0600U);
  CHECK(ErrorOf(WriteFileDurably(fd.get(), folder.path(), "b.json", "one", {.owner = 54321})) ==
        Error{ErrorCode::kInvalid,
              "cannot change the owner of '" + folder.Path("b.json") + "': operation not permitted"});
  CHECK(folder.Names() == std::set<std::string>{"a.json"});
}

TEST_CASE("WriteFileDurably does without a sync of the folder where there is none, and not where it fails",
          "[base][file]") {
  const TempFolder folder;
  const UniqueFd fd = OpenFolder(folder.path());
  for (const int missing : {EINVAL, EOPNOTSUPP, ENOSYS}) {
    const FailingCalls failing({.folder_sync = missing});
    CHECK(ErrorOf(WriteFileDurably(fd.get(), folder.path(), "a.json", SystemMessage(missing))) == std::nullopt);
    CHECK(folder.Read("a.json") == SystemMessage(missing));
    CHECK(SyncFolder(fd.get(), folder.path()) == false);
  }
  const FailingCalls failing({.folder_sync = EIO});
  CHECK(ErrorOf(WriteFileDurably(fd.get(), folder.path(), "a.json", "one")) ==
        Error{ErrorCode::kInvalid, "cannot sync the folder '" + folder.path() + "': input/output error"});
}

TEST_CASE("WriteFileDurably leaves nothing behind when a step fails", "[base][file]") {
  const TempFolder folder;
  folder.Write("taken/inside", "kept");  // A folder under the file's name: the rename fails.
  const UniqueFd fd = OpenFolder(folder.path());
  CHECK(ErrorOf(WriteFileDurably(fd.get(), folder.path(), "taken", "new")) ==
        Error{ErrorCode::kInvalid, "cannot rename to '" + folder.Path("taken") + "': is a directory"});
  CHECK(folder.Names() == std::set<std::string>{"taken"});
  CHECK(folder.Read("taken/inside") == "kept");
}

TEST_CASE("WriteFileDurably says of a removed folder that it can't write", "[base][file]") {
  const TempFolder folder;
  folder.Write("gone/file", "");
  const UniqueFd fd = OpenFolder(folder.Path("gone"));
  std::filesystem::remove_all(folder.Path("gone"));
  CHECK(ErrorOf(WriteFileDurably(fd.get(), folder.Path("gone"), "a.json", "text")) ==
        Error{ErrorCode::kInvalid, "cannot write '" + folder.Path("gone/a.json") + "': no such file or directory"});
}

TEST_CASE("ReplaceFile leaves the whole file, for everybody to read, and nothing else", "[base][file]") {
  const TempFolder folder;
  const std::string path = folder.Path("a.prom");
  const mode_t mask = ::umask(0077);
  CHECK(ReplaceFile(path, "one"));
  CHECK(ReplaceFile(path, "two"));
  ::umask(mask);
  CHECK(folder.Read("a.prom") == "two");
  CHECK(folder.Names() == std::set<std::string>{"a.prom"});
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0644);
}

TEST_CASE("ReplaceFile leaves nothing behind when a step fails", "[base][file]") {
  const TempFolder folder;
  folder.Write("taken/inside", "kept");
  CHECK(ErrorOf(ReplaceFile(folder.Path("taken"), "new")) ==
        Error{ErrorCode::kInvalid, "cannot rename to '" + folder.Path("taken") + "': is a directory"});
  CHECK(folder.Names() == std::set<std::string>{"taken"});
  CHECK(ErrorOf(ReplaceFile(folder.Path("missing/a"), "new")) ==
        Error{ErrorCode::kInvalid, "cannot write '" + folder.Path("missing/a") + "': no such file or directory"});
}

TEST_CASE("UniqueFd closes its descriptor once", "[base][file]") {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  const TempFolder folder;
  int first = -1;
  int second = -1;
  {
    UniqueFd a = OpenFolder(folder.path());
    UniqueFd b = OpenFolder(folder.path());
    first = a.get();
    second = b.get();
    a = std::move(b);
    CHECK_FALSE(is_open(first));
    CHECK(a.get() == second);
    const UniqueFd c(std::move(a));
    CHECK(is_open(second));
  }
  CHECK_FALSE(is_open(second));
  CHECK_FALSE(UniqueFd());
}

TEST_CASE("SystemMessage is in lower case unless it begins with an abbreviation", "[base][file]") {
  CHECK(SystemMessage(EACCES) == "permission denied");
  CHECK(SystemMessage(ENOSPC) == "no space left on device");
  CHECK(SystemMessage(EIO) == "input/output error");
  CHECK(SystemMessage(ESRMNT) == "srmount error");
}

TEST_CASE("FolderOf returns what stands before the last slash", "[base][file]") {
  CHECK(FolderOf("/a/b/c") == "/a/b");
  CHECK(FolderOf("/a") == "/");
  CHECK(FolderOf("a/b") == "a");
  CHECK(FolderOf("a") == ".");
  CHECK(FolderOf("a/b/") == "a");
  CHECK(FolderOf("/a//") == "/");
  CHECK(FolderOf("a/") == ".");
  CHECK(FolderOf("/") == "/");
}

TEST_CASE("NameOf returns what stands behind the last slash", "[base][file]") {
  CHECK(NameOf("/a/b/c") == "c");
  CHECK(NameOf("/a") == "a");
  CHECK(NameOf("a") == "a");
  CHECK(NameOf("/a/b//") == "b");
}

TEST_CASE("ResolvePath leaves absolute and empty paths alone", "[base][file]") {
  CHECK(ResolvePath("/etc/x", "/b") == "/b");
  CHECK(ResolvePath("/etc/x", "b/c") == "/etc/x/b/c");
  CHECK(ResolvePath("/etc/x", "../b") == "/etc/x/../b");
  CHECK(ResolvePath("/etc/x", "").empty());
}

TEST_CASE("ProbeWritable leaves nothing behind, whether it can write or not", "[base][file]") {
  const TempFolder folder;
  const UniqueFd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  CHECK(ErrorOf(ProbeWritable(fd.get(), folder.path())) == std::nullopt);
  CHECK(folder.Names().empty());
  const UniqueFd gone(::open("/proc/self", O_RDONLY | O_DIRECTORY));
  const std::optional<Error> refused = ErrorOf(ProbeWritable(gone.get(), "/proc/self"));
  REQUIRE(refused);
  CHECK(refused->code == ErrorCode::kInvalid);
  CHECK(refused->message.starts_with("cannot write '/proc/self/.cnpa-op.tmp."));
}

}  // namespace
}  // namespace cnpa
