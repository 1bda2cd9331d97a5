// SPDX-License-Identifier: Apache-2.0
#include "app/pass/memory_file.h"

#include <map>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

PassMemory SomeMemory() {
  PassMemory memory;
  for (int i = 0; i < 3; ++i) memory.repairs.Note({"uid-red", "Namespace/team-red", "a", "helm"}, kNow);
  memory.repairs.Note({"uid-blue", "TeamSpace/blue", "metadata.finalizers", ""}, kNow);
  for (int i = 0; i < 5; ++i) memory.setbacks.Note("uid-sad", {ErrorCode::kInvalid, "no"}, {"x", "y"}, kNow);
  memory.setbacks.Note("uid-slow", {ErrorCode::kUnavailable, "no answer"}, {}, kNow);
  return memory;
}

TEST_CASE("DefaultRuntimeFolder is where systemd says, else where what goes with a restart belongs",
          "[app][memory_file]") {
  struct Case {
    std::string name;
    std::map<std::string, std::string> variables;
    bool is_root;
    std::string want;
  };
  const std::map<std::string, std::string> user{{"XDG_RUNTIME_DIR", "/run/user/7"}};
  const std::vector<Case> cases{
      {"systemd", {{"RUNTIME_DIRECTORY", "/run/a"}, {"XDG_RUNTIME_DIR", "/run/user/7"}}, true, "/run/a"},
      {"systemd, with two", {{"RUNTIME_DIRECTORY", "/run/a:/run/b"}}, false, "/run/a"},
      {"root", user, true, "/run/cnpa-op"},
      {"a user", user, false, "/run/user/7/cnpa-op"},
      {"nowhere", {}, false, ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Environment environment = [&c](const std::string& name) -> std::optional<std::string> {
        const auto found = c.variables.find(name);
        return found == c.variables.end() ? std::nullopt : std::optional(found->second);
      };
      CHECK(DefaultRuntimeFolder(environment, c.is_root) == c.want);
    }
  }
}

TEST_CASE("SaveMemory and LoadMemory keep a memory", "[app][memory_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("run");
  CHECK(LoadMemory(path) == PassMemory());  // No folder,
  REQUIRE(SaveMemory(path, PassMemory()));
  CHECK(LoadMemory(path) == PassMemory());  // and nothing in it.
  REQUIRE(SaveMemory(path, SomeMemory()));
  CHECK(LoadMemory(path) == SomeMemory());
  struct stat facts {};
  REQUIRE(::stat((path + "/memory.json").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0600);
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0700);
  CHECK(folder.Names("run") == std::set<std::string>{"memory.json"});
}

TEST_CASE("LoadMemory refuses what is no memory of ours", "[app][memory_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("memory.json");
  const std::string name = "'" + path + "'";
  const Error unfit{ErrorCode::kInvalid, name + " is not a file that only we write"};
  SECTION("a folder") {
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    CHECK(ErrorOf(LoadMemory(folder.path())).has_value());
    CHECK_FALSE(SaveMemory(folder.path(), SomeMemory()));
  }
  SECTION("a symbolic link, which is replaced and not followed") {
    folder.Write("other", "something of somebody else");
    REQUIRE(::symlink(folder.Path("other").c_str(), path.c_str()) == 0);
    CHECK(ErrorOf(LoadMemory(folder.path())).has_value());
    CHECK(SaveMemory(folder.path(), SomeMemory()));
    CHECK(folder.Read("other") == "something of somebody else");
  }
  SECTION("a pipe") {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(ErrorOf(LoadMemory(folder.path()))->message.ends_with(" is not a file that only we write"));
  }
  SECTION("a file that others write") {
    REQUIRE(SaveMemory(folder.path(), SomeMemory()));
    REQUIRE(::chmod(path.c_str(), 0622) == 0);
    CHECK(ErrorOf(LoadMemory(folder.path()))->message.ends_with(" is not a file that only we write"));
  }
  SECTION("a file that is too large") {
    folder.Write("memory.json", std::string((16U << 20U) + 1, ' '));
    CHECK(ErrorOf(LoadMemory(folder.path()))->code == ErrorCode::kInvalid);
  }
}

TEST_CASE("DecodeMemory reads what EncodeMemory writes, and nothing else", "[app][memory_file]") {
  CHECK(DecodeMemory(EncodeMemory(SomeMemory())) == SomeMemory());
  CHECK(DecodeMemory(EncodeMemory(PassMemory())) == PassMemory());
  const std::string good = EncodeMemory(SomeMemory());
  struct Case {
    std::string from;
    std::string to;
    std::string want;
  };
  const std::vector<Case> cases{
      {"\"version\":1", "\"version\":2", "'version' is another one"},
      {"\"version\":1,", "", "'version' is another one"},
      {"\"count\":3", "\"count\":0", "'repairs[1].count' is not a positive number"},
      {"\"count\":3", "\"count\":-3", "'repairs[1].count' is not a positive number"},
      {"\"count\":5", "\"count\":0", "'setbacks[0].count' is not a positive number"},
      {"\"uid\":\"uid-sad\"", "\"uid\":\"\"", "'setbacks[0].uid' is missing"},
      {"[\"x\",", "[{},", "'setbacks[0].altered' holds something that is not a string"},
      {"\"setbacks\":[", "\"setbacks\":[7,", "'setbacks[0]' is not an object"},
      {"\"count\":3", "\"count\":\"3\"", "'repairs[1].count' is not an integer of 64 bits"},
      {"\"last\":\"" + kNowText, "\"last\":\"yesterday", "'repairs[0].last' is no time"},
      {"\"uid\":\"uid-red\"", "\"uid\":\"\"", "'repairs[1].uid' is missing"},
      {"\"repairs\":[", "\"repairs\":[7,", "'repairs[0]' is not an object"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.to << " is refused") {
      std::string text = good;
      REQUIRE(Contains(text, c.from));
      text.replace(text.find(c.from), c.from.size(), c.to);
      CHECK(ErrorOf(DecodeMemory(text)) == Error{ErrorCode::kMalformed, c.want});
    }
  }
  for (std::size_t size = 0; size + 2 < good.size(); size += 7) {
    CHECK(ErrorOf(DecodeMemory(good.substr(0, size)))->code == ErrorCode::kMalformed);
  }
}

TEST_CASE("SaveMemory and LoadMemory keep the largest memory", "[app][memory_file]") {
  const TempFolder folder;
  PassMemory memory;
  const std::string long_text(kLongestSetback, 'x');
  for (std::size_t i = 0; i < SetbackRecord::kMostEntries; ++i) {
    const std::string uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i);
    memory.repairs.Note({uid, long_text, long_text, long_text}, kNow);
    memory.setbacks.Note(uid, {ErrorCode::kInvalid, long_text}, {long_text, long_text}, kNow);
  }
  REQUIRE(SaveMemory(folder.path(), memory));
  CHECK(LoadMemory(folder.path()) == memory);
}

TEST_CASE("A memory that root writes is that of the folder's owner, and root reads it all the same",
          "[app][memory_file]") {
  if (::geteuid() != 0) return;  // Nobody else can give a file away.
  const TempFolder folder;
  const std::string path = folder.Path("run");
  REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  REQUIRE(::chown(path.c_str(), 65534, 65533) == 0);
  REQUIRE(SaveMemory(path, SomeMemory()));
  struct stat facts {};
  REQUIRE(::stat((path + "/memory.json").c_str(), &facts) == 0);
  CHECK(facts.st_uid == 65534);
  CHECK(facts.st_gid == 65533);
  CHECK((facts.st_mode & 07777U) == 0600);
  CHECK(LoadMemory(path) == SomeMemory());
  // Where anybody may put a file, it says nothing.
  REQUIRE(::chmod(path.c_str(), 0777) == 0);
  CHECK(ErrorOf(LoadMemory(path))->message.ends_with(" is not a file that only we write"));
}

TEST_CASE("DecodeMemory bounds how much it takes", "[app][memory_file]") {
  const std::string rest = R"(","object":"o","subject":"s","manager":"","count":1,"first":")" + kNowText +
                           R"(","last":")" + kNowText + "\"}";
  std::string text = R"({"version":1,"repairs":[)";
  for (std::size_t i = 0; i < FightRecord::kMostEntries + 9; ++i) {
    if (i > 0) text += ',';
    text += R"({"uid":"u)";
    text += std::to_string(i);
    text += rest;
  }
  CHECK(DecodeMemory(text + "]}")->repairs.entries().size() == FightRecord::kMostEntries);
}

}  // namespace
}  // namespace cnpa
