// SPDX-License-Identifier: Apache-2.0
#include "app/options.h"
#include "app/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> variables = cnpa::EnvironmentList();
  const cnpa::CommandLine line = cnpa::ParseCommandLine(argc, argv, variables);
  if (line.exit_code) return static_cast<int>(*line.exit_code);

  return static_cast<int>(cnpa::Run(line.options, [&] { return cnpa::ReparseCommandLine(argc, argv, variables); }));
}
