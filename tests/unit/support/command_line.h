// SPDX-License-Identifier: Apache-2.0
//
// The command line as a test gives it, and what becomes of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/options.h"
#include "support/capture.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace cnpa {

using Variables = std::map<std::string, std::string>;

inline std::vector<std::string> ListOf(const Variables& variables) {
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(std::string(name).append("=").append(value));
  return list;
}

struct Parsed {
  Options options;
  std::optional<ExitCode> exit_code;
  std::string out;
  std::string err;
};

inline Parsed Parse(std::vector<std::string> arguments, Variables variables = {}) {
  // No test depends on what this machine has in /etc.
  static const TempFolder kFolder;
  variables.emplace("CNPA_OP_CONFIG", kFolder.Write("empty.yaml", ""));
  arguments.insert(arguments.begin(), "cnpa-op");
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  CapturedStream out(stdout);
  CapturedStream err(stderr);
  CommandLine line = ParseCommandLine(static_cast<int>(argv.size()), argv.data(), ListOf(variables));
  Parsed parsed{.options = std::move(line.options), .exit_code = line.exit_code, .out = {}, .err = err.Text()};
  parsed.out = out.Text();
  return parsed;
}

inline Options Accepted(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  const Parsed parsed = Parse(arguments, variables);
  CAPTURE(parsed.err);
  REQUIRE_FALSE(parsed.exit_code);
  CHECK(parsed.out.empty());
  CHECK(parsed.err.empty());
  return parsed.options;
}

}  // namespace cnpa
