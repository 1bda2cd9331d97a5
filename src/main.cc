// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <unistd.h>

#include "app/cli/command_line.h"
#include "app/cli/options.h"
#include "app/commands/run.h"
#include "app/loop/supervisor.h"
#include "base/service_manager.h"

int main(int argc, char** argv) {
  // A loop handles those that come from here on, and only the command line says whether this is one.
  const sigset_t mask = cnpa::Supervisor::BlockSignals();
  const std::vector<std::string> variables = cnpa::EnvironmentList();
  const cnpa::CommandLine line = cnpa::ParseCommandLine(argc, argv, variables);
  if (line.exit_code) {
    // Whoever looks at a failed service may not see its journal.
    if (!line.error.empty())
      cnpa::ServiceManager::Find(cnpa::ProcessEnvironment(), ::getpid()).Notify(cnpa::StatusAssignment(line.error));
    return static_cast<int>(*line.exit_code);
  }
  if (!line.options.loops()) ::sigprocmask(SIG_SETMASK, &mask, nullptr);

  return static_cast<int>(cnpa::Run(line.options, [&] { return cnpa::ReparseCommandLine(argc, argv, variables); }));
}
