// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

ProgramCall Shell(const std::string& script) {
  return {.arguments = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}, .time_limit = milliseconds(20000)};
}

ErrorCode CodeOf(const ProgramCall& call) {
  const Result<ProgramResult> result = RunProgram(call);
  REQUIRE_FALSE(result);
  return result.error().code;
}

TEST_CASE("RunProgram returns what a program printed and how it ended", "[base][process]") {
  const Result<ProgramResult> result = RunProgram(Shell("echo out; echo first >&2; echo ' last\twords ' >&2; exit 3"));
  REQUIRE(ErrorOf(result) == std::nullopt);
  CHECK(result->output == "out\n");
  CHECK(result->last_words == "last words");
  CHECK(result->exit_code == 3);
  CHECK_FALSE(result->succeeded());
}

TEST_CASE("RunProgram tells the signal that ended a program", "[base][process]") {
  const Result<ProgramResult> result = RunProgram(Shell("kill -TERM $$"));
  REQUIRE(ErrorOf(result) == std::nullopt);
  CHECK(result->signal == SIGTERM);
}

TEST_CASE("RunProgram takes more than a pipe holds", "[base][process]") {
  const Result<ProgramResult> result = RunProgram(Shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"));
  REQUIRE(ErrorOf(result) == std::nullopt);
  CHECK(result->output.size() == 300000);
}

TEST_CASE("RunProgram gives a program its environment and nothing else of ours", "[base][process]") {
  const TempFolder folder;
  std::ofstream(folder.path() + "/open") << "x";
  const std::ifstream held(folder.path() + "/open");  // Without close-on-exec, as some libraries open theirs.
  ProgramCall call = Shell("env | sort; ls /proc/self/fd | wc -l; read line || echo no input");
  call.environment.emplace_back("A=b");
  const Result<ProgramResult> result = RunProgram(call);
  REQUIRE(ErrorOf(result) == std::nullopt);
  CHECK(result->output.find("A=b\n") == 0);
  CHECK(result->output.find("HOME=") == std::string::npos);
  CHECK(result->output.find("\n4\n") != std::string::npos);  // The three, and that of `ls` on the folder.
  CHECK(result->output.find("no input") != std::string::npos);
}

TEST_CASE("RunProgram kills a program whose time is over, and its children", "[base][process]") {
  const TempFolder folder;
  ProgramCall call = Shell("(sleep 1; touch " + folder.path() + "/survived) & sleep 60");
  call.time_limit = milliseconds(100);
  CHECK(CodeOf(call) == ErrorCode::kUnavailable);
  REQUIRE(RunProgram(Shell("sleep 1.2")));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/survived"));
}

TEST_CASE("RunProgram does not wait for what a program leaves behind", "[base][process]") {
  const auto started = std::chrono::steady_clock::now();
  const Result<ProgramResult> result = RunProgram(Shell("sleep 10 & echo done"));
  REQUIRE(ErrorOf(result) == std::nullopt);
  CHECK(result->output == "done\n");
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(8));
}

TEST_CASE("RunProgram ends a program that prints without end, and one when it is told to", "[base][process]") {
  CHECK(CodeOf(Shell("yes")) == ErrorCode::kMalformed);
  ProgramCall noisy = Shell("yes >&2");
  noisy.time_limit = milliseconds(200);
  CHECK(CodeOf(noisy) == ErrorCode::kUnavailable);
  ProgramCall call = Shell("sleep 60");
  call.stop_requested = [] { return true; };
  CHECK(CodeOf(call) == ErrorCode::kStopped);
}

TEST_CASE("RunProgram says why a program can't be started", "[base][process]") {
  const TempFolder folder;
  std::ofstream(folder.path() + "/plain") << "text\n";
  CHECK(CodeOf({.arguments = {"no-such-program"}}) == ErrorCode::kNotFound);
  CHECK(CodeOf({.arguments = {"/no/such/program"}}) == ErrorCode::kNotFound);
  CHECK(CodeOf({.arguments = {folder.path() + "/plain"}}) == ErrorCode::kInvalid);
}

TEST_CASE("FindProgram looks in absolute folders only", "[base][process]") {
  const TempFolder folder;
  const std::string program = folder.path() + "/tool";
  std::ofstream(program) << "#!/bin/sh\n";
  CHECK_FALSE(FindProgram("tool", folder.path()));  // Not executable.
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CHECK(*FindProgram("tool", "/none:" + folder.path()) == program);
  CHECK(*FindProgram(program, "") == program);
  CHECK_FALSE(FindProgram("tool", ""));
  CHECK_FALSE(FindProgram("tool", ":."));
}

}  // namespace
}  // namespace cnpa
