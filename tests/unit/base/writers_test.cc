// SPDX-License-Identifier: Apache-2.0
#include "base/writers.h"

#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

constexpr uid_t kSomebody = 4711;

std::string Quoted(const std::string& path) {
  return "'" + path + "'";
}

TEST_CASE("DescribeOtherWriters finds nobody where only we can write", "[base][writers]") {
  const TempFolder folder;
  const std::string file = folder.Write("a/b/file", "text");
  for (const mode_t mode : {0600U, 0644U, 0400U}) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    CHECK(DescribeOtherWriters(file).empty());
  }
  REQUIRE(::symlink("b/file", folder.Path("a/link").c_str()) == 0);
  CHECK(DescribeOtherWriters(folder.Path("a/link")).empty());
  // What is not there, or holds nothing, is for others to complain of.
  CHECK(DescribeOtherWriters(folder.Path("missing")).empty());
  CHECK(DescribeOtherWriters("/dev/null").empty());
}

TEST_CASE("DescribeOtherWriters says who can write a file, or put another in its place", "[base][writers]") {
  const TempFolder folder;
  const std::string file = folder.Write("a/b/file", "text");
  const std::string above = folder.Path("a");
  for (const mode_t mode : {0620U, 0602U}) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    CHECK(DescribeOtherWriters(file) ==
          Quoted(file) + " can be written by others than its owner: chmod go-w " + Quoted(file));
  }
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  for (const mode_t mode : {0770U, 0707U}) {
    REQUIRE(::chmod(above.c_str(), mode) == 0);
    CHECK(DescribeOtherWriters(file) == Quoted(file) + " can be replaced by others, who can write the folder " +
                                            Quoted(above) + ": chmod go-w " + Quoted(above));
  }
  SECTION("not where each can remove only what is his own") {
    REQUIRE(::chmod(above.c_str(), 01777) == 0);
    CHECK(DescribeOtherWriters(file).empty());
  }
  SECTION("a link leads there from elsewhere") {
    const TempFolder elsewhere;
    const std::string link = elsewhere.Path("link");
    REQUIRE(::symlink(file.c_str(), link.c_str()) == 0);
    CHECK(DescribeOtherWriters(link) == Quoted(link) + " can be replaced by others, who can write the folder " +
                                            Quoted(above) + ": chmod go-w " + Quoted(above));
  }
}

TEST_CASE("DescribeOtherWriters looks at each folder on the way of a link", "[base][writers]") {
  const TempFolder folder;
  const std::string file = folder.Write("safe/file", "text");
  folder.Write("open/other", "");
  folder.Write("first/other", "");
  const std::string open = folder.Path("open");
  REQUIRE(::symlink("../safe", (open + "/current").c_str()) == 0);
  REQUIRE(::symlink((open + "/current/file").c_str(), folder.Path("first/link").c_str()) == 0);
  const std::string link = folder.Path("first/link");
  CHECK(DescribeOtherWriters(link).empty());
  REQUIRE(::chmod(open.c_str(), 0777) == 0);
  CHECK(DescribeOtherWriters(link) == Quoted(link) + " can be replaced by others, who can write the folder " +
                                          Quoted(open) + ": chmod go-w " + Quoted(open));
  REQUIRE(::chmod(open.c_str(), 0755) == 0);
  REQUIRE(::symlink("loop", folder.Path("loop").c_str()) == 0);
  CHECK(DescribeOtherWriters(folder.Path("loop")).empty());
}

TEST_CASE("DescribeOtherWriters says whose a file or a folder is", "[base][writers]") {
  if (::geteuid() != 0) {
    WARN("not checked: needs root");
    return;
  }
  const TempFolder folder;
  const std::string file = folder.Write("a/file", "text");
  REQUIRE(::chown(file.c_str(), kSomebody, kSomebody) == 0);
  CHECK(DescribeOtherWriters(file) ==
        Quoted(file) +
            " belongs to user 4711, who can change it: run cnpa-op as that user, or on a copy of your own: " +
            "install -m 600 " + Quoted(file) + " COPY");
  REQUIRE(::chown(file.c_str(), 0, kSomebody) == 0);
  const std::string above = folder.Path("a");
  REQUIRE(::chown(above.c_str(), kSomebody, kSomebody) == 0);
  CHECK(DescribeOtherWriters(file) == Quoted(file) + " can be replaced by user 4711, to whom the folder " +
                                          Quoted(above) + " belongs: run cnpa-op as that user, or move the file");
}

}  // namespace
}  // namespace cnpa
