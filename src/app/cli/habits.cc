// SPDX-License-Identifier: Apache-2.0
#include "app/cli/habits.h"

#include <array>

namespace cnpa {
namespace {

struct Habit {
  Command command;  ///< kNone: a command.
  std::string_view word;
  std::string_view instead;
};

constexpr std::array kHabits{
    Habit{Command::kNone, "diff", "cnpa-op reconcile --diff"},
    Habit{Command::kNone, "plan", "cnpa-op reconcile --diff"},
    Habit{Command::kNone, "apply", "cnpa-op reconcile --once"},
    Habit{Command::kNone, "sync", "cnpa-op reconcile --once"},
    Habit{Command::kNone, "run", "cnpa-op reconcile"},
    Habit{Command::kNone, "describe", "cnpa-op explain"},
    Habit{Command::kNone, "status", "cnpa-op explain"},
    Habit{Command::kNone, "list", "cnpa-op get"},
    Habit{Command::kNone, "ls", "cnpa-op get"},
    Habit{Command::kNone, "logs", "journalctl -u cnpa-op"},
    Habit{Command::kReconcile, "--dry-run", "--diff"},
    Habit{Command::kReconcile, "--dry-run=client", "--diff"},
    Habit{Command::kReconcile, "-w", "--watch 5m"},
    Habit{Command::kGet, "--watch", "watch cnpa-op get"},
    Habit{Command::kGet, "-w", "watch cnpa-op get"},
};

}  // namespace

std::string_view HabitFor(std::string_view word, Command command) {
  for (const Habit& habit : kHabits) {
    if (habit.command == command && habit.word == word) return habit.instead;
  }
  return {};
}

}  // namespace cnpa
