// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "app/options.h"
#include "app/run.h"
#include "base/service_manager.h"

int main(int argc, char** argv) {
  const std::vector<std::string> variables = cnpa::EnvironmentList();
  const cnpa::CommandLine line = cnpa::ParseCommandLine(argc, argv, variables);
  if (line.exit_code) {
    // Whoever looks at a failed service may not see its journal.
    if (!line.error.empty())
      cnpa::ServiceManager::Find(cnpa::ProcessEnvironment(), ::getpid()).Notify(cnpa::StatusAssignment(line.error));
    return static_cast<int>(*line.exit_code);
  }

  return static_cast<int>(cnpa::Run(line.options, [&] { return cnpa::ReparseCommandLine(argc, argv, variables); }));
}
