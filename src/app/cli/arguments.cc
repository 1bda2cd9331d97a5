// SPDX-License-Identifier: Apache-2.0
//
// CLI11 reads the flags. Words are kept from it: it would take a name for a command, `++` for a mark of its own, and
// `[a,b]` for a list; and for `--context=` it would take the next argument as the value.
#include "app/cli/arguments.h"

#include <algorithm>
#include <array>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "app/cli/flags.h"
#include "app/cli/help.h"

namespace cnpa {
namespace {

bool LooksLikeFlag(std::string_view argument) {
  return argument.size() > 1 && argument[0] == '-';
}

/// Other words for flags of `reconcile`: kubectl's.
struct Synonym {
  std::string_view word;
  std::string_view flag;
};
constexpr std::array kSynonyms{Synonym{"--watch", "--linger"}, Synonym{"--dry-run=server", "--server"}};

/// Returns `argument` as the table of flags has it.
std::string InOurWords(const std::string& argument) {
  for (const Synonym& synonym : kSynonyms) {
    const bool whole = argument == synonym.word;
    if (whole || argument.starts_with(std::string(synonym.word) + "=")) {
      return std::string(synonym.flag) + argument.substr(synonym.word.size());
    }
  }
  return argument;
}

/// Returns `arguments` with each flag in our words, where they are those of `reconcile`.
std::vector<std::string> InOurWords(std::vector<std::string> arguments) {
  if (std::find(arguments.begin(), arguments.end(), "reconcile") == arguments.end()) return arguments;
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  std::transform(arguments.begin(), end, arguments.begin(),
                 [](const std::string& argument) { return InOurWords(argument); });
  return arguments;
}

/// The arguments in their order: flags, each value in an argument of its own, and the rest.
struct Sorted {
  std::vector<std::string> flags;
  std::vector<std::string> words;
  std::vector<std::string_view> without_value;
};

class Sorter {
 public:
  explicit Sorter(std::vector<Flag> flags) : flags_(std::move(flags)) {}

  Sorted Sort(const std::vector<std::string>& arguments) const {
    Sorted sorted;
    for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
      if (*argument == "--") {
        sorted.words.insert(sorted.words.end(), argument + 1, arguments.end());
        break;
      }
      if (!LooksLikeFlag(*argument)) {
        sorted.words.push_back(*argument);
        continue;
      }
      const std::size_t equals = argument->find('=');
      const std::string head = argument->substr(0, equals);
      const Flag* flag = WantsValue(head);
      if (flag == nullptr) {
        sorted.flags.push_back(*argument);
      } else if (equals != std::string::npos) {
        sorted.flags.insert(sorted.flags.end(), {head, argument->substr(equals + 1)});
      } else if (argument + 1 == arguments.end() || IsFlag(*(argument + 1))) {
        sorted.without_value.push_back(flag->name);
      } else {
        sorted.flags.insert(sorted.flags.end(), {head, *++argument});
      }
    }
    return sorted;
  }

 private:
  const Flag* Named(std::string_view name) const {
    return Find([name](const Flag& flag) { return flag.name == name; });
  }

  const Flag* Lettered(std::string_view letter) const {
    return Find([letter](const Flag& flag) { return flag.letter == letter; });
  }

  template <typename Predicate>
  const Flag* Find(Predicate matches) const {
    const auto found = std::find_if(flags_.begin(), flags_.end(), matches);
    return found == flags_.end() ? nullptr : &*found;
  }

  /// Returns whether a user who forgot a value would have meant `argument` as what it is.
  bool IsFlag(std::string_view argument) const {
    if (argument == "--") return true;
    if (argument.starts_with("--")) return Named(argument.substr(2, argument.find('=') - 2)) != nullptr;
    return argument.size() == 2 && argument[0] == '-' && Lettered(argument.substr(1)) != nullptr;
  }

  /// Returns the flag at the end of `head` that needs a value: of `--output`, `-o` and `-vo`, not of `-ojson`.
  const Flag* WantsValue(std::string_view head) const {
    if (head.starts_with("--")) {
      const Flag* flag = Named(head.substr(2));
      return flag != nullptr && flag->kind != FlagKind::kSwitch ? flag : nullptr;
    }
    for (std::size_t i = 1; i < head.size(); ++i) {
      const Flag* flag = Lettered(head.substr(i, 1));
      if (flag == nullptr) return nullptr;
      if (flag->kind != FlagKind::kSwitch) return i + 1 == head.size() ? flag : nullptr;
    }
    return nullptr;
  }

  std::vector<Flag> flags_;
};

/// Adds a flag of whatever command; what one holds for the other, too.
CLI::Option* AddFlag(const Flag& flag, CLI::App& app) {
  std::string names = fmt::format("--{}", flag.name);
  if (!flag.letter.empty()) names = fmt::format("-{},{}", flag.letter, names);
  CLI::Option* option = flag.kind == FlagKind::kSwitch ? app.add_flag(names) : app.add_option(names);
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

Result<Arguments> SplitArguments(const std::vector<std::string>& arguments) {
  const std::vector<Flag> flags = AllFlags();
  Sorted sorted = Sorter(flags).Sort(InOurWords(arguments));
  CLI::App app;
  app.set_help_flag("");  // It is in the table.
  app.allow_extras();
  std::map<std::string_view, CLI::Option*> options;
  for (const Flag& flag : flags) {
    if (!options.contains(flag.name)) options[flag.name] = AddFlag(flag, app);
  }
  std::reverse(sorted.flags.begin(), sorted.flags.end());  // CLI11 takes them from the end.
  try {
    app.parse(sorted.flags);
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalid, error.what());
  }
  Arguments split{.flags = {},
                  .words = std::move(sorted.words),
                  .unknown = app.remaining(),
                  .without_value = std::move(sorted.without_value)};
  for (const auto& [name, option] : options) {
    if (option->count() > 0) split.flags[name] = option->results();
  }
  return split;
}

}  // namespace cnpa
