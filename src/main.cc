// SPDX-License-Identifier: Apache-2.0
#include "app/options.h"
#include "app/run.h"

int main(int argc, char** argv) {
  const cnpa::CommandLine line = cnpa::ParseCommandLine(argc, argv, cnpa::ProcessEnvironment());
  if (line.exit_code) return static_cast<int>(*line.exit_code);

  return static_cast<int>(cnpa::Run(line.options));
}
