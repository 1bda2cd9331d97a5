// SPDX-License-Identifier: Apache-2.0
#include "app/fight_file.h"

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

FightRecord SomeRecord() {
  FightRecord record;
  for (int i = 0; i < 3; ++i) record.Note({"uid-red", "Namespace/team-red", "a", "helm"}, kNow);
  record.Note({"uid-blue", "TeamSpace/blue", "metadata.finalizers", ""}, kNow);
  return record;
}

TEST_CASE("DefaultRuntimeFolder is where systemd says, else where what goes with a restart belongs",
          "[app][fight_file]") {
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

TEST_CASE("SaveFights and LoadFights keep a record", "[app][fight_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("run");
  CHECK(LoadFights(path) == FightRecord());  // No folder,
  REQUIRE(SaveFights(path, FightRecord()));
  CHECK(LoadFights(path) == FightRecord());  // and nothing in it.
  REQUIRE(SaveFights(path, SomeRecord()));
  CHECK(LoadFights(path) == SomeRecord());
  struct stat facts {};
  REQUIRE(::stat((path + "/repairs.json").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0600);
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0700);
  CHECK(folder.Names("run") == std::set<std::string>{"repairs.json"});
}

TEST_CASE("LoadFights refuses what is no record of ours", "[app][fight_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("repairs.json");
  const std::string name = "'" + path + "'";
  const Error unfit{ErrorCode::kInvalid, name + " is not a file that only we write"};
  SECTION("a folder") {
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    CHECK(ErrorOf(LoadFights(folder.path())).has_value());
    CHECK_FALSE(SaveFights(folder.path(), SomeRecord()));
  }
  SECTION("a symbolic link, which is replaced and not followed") {
    folder.Write("other", "something of somebody else");
    REQUIRE(::symlink(folder.Path("other").c_str(), path.c_str()) == 0);
    CHECK(ErrorOf(LoadFights(folder.path())).has_value());
    CHECK(SaveFights(folder.path(), SomeRecord()));
    CHECK(folder.Read("other") == "something of somebody else");
  }
  SECTION("a pipe") {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(ErrorOf(LoadFights(folder.path()))->message.ends_with(" is not a file that only we write"));
  }
  SECTION("a file that others write") {
    REQUIRE(SaveFights(folder.path(), SomeRecord()));
    REQUIRE(::chmod(path.c_str(), 0622) == 0);
    CHECK(ErrorOf(LoadFights(folder.path()))->message.ends_with(" is not a file that only we write"));
  }
  SECTION("a file that is too large") {
    folder.Write("repairs.json", std::string((1U << 20U) + 1, ' '));
    CHECK(ErrorOf(LoadFights(folder.path()))->code == ErrorCode::kInvalid);
  }
}

TEST_CASE("DecodeFights reads what EncodeFights writes, and nothing else", "[app][fight_file]") {
  CHECK(DecodeFights(EncodeFights(SomeRecord())) == SomeRecord());
  CHECK(DecodeFights(EncodeFights(FightRecord())) == FightRecord());
  const std::string good = EncodeFights(SomeRecord());
  struct Case {
    std::string from;
    std::string to;
    std::string want;
  };
  const std::vector<Case> cases{
      {"\"version\":1", "\"version\":2", "'version' is another one"},
      {"\"version\":1,", "", "'version' is another one"},
      {"\"count\":3", "\"count\":0", "'repairs[1].count' is no number of repairs"},
      {"\"count\":3", "\"count\":-3", "'repairs[1].count' is no number of repairs"},
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
      CHECK(ErrorOf(DecodeFights(text)) == Error{ErrorCode::kMalformed, c.want});
    }
  }
  for (std::size_t size = 0; size + 2 < good.size(); size += 7) {
    CHECK(ErrorOf(DecodeFights(good.substr(0, size)))->code == ErrorCode::kMalformed);
  }
}

TEST_CASE("DecodeFights bounds how much it takes", "[app][fight_file]") {
  const std::string rest = R"(","object":"o","subject":"s","manager":"","count":1,"first":")" + kNowText +
                           R"(","last":")" + kNowText + "\"}";
  std::string text = R"({"version":1,"repairs":[)";
  for (std::size_t i = 0; i < FightRecord::kMostEntries + 9; ++i) {
    if (i > 0) text += ',';
    text += R"({"uid":"u)";
    text += std::to_string(i);
    text += rest;
  }
  CHECK(DecodeFights(text + "]}")->entries().size() == FightRecord::kMostEntries);
}

}  // namespace
}  // namespace cnpa
