// SPDX-License-Identifier: Apache-2.0
//
// Runs a program for what it prints.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cnpa {

struct ProgramCall {
  std::vector<std::string> arguments;          ///< The first is the program: a path, or a name to find in $PATH.
  std::vector<std::string> environment;        ///< "NAME=value", all that it gets.
  bool interactive = false;                    ///< Has our standard input and error; else neither.
  std::chrono::milliseconds time_limit{0};     ///< Then it is killed.
  std::size_t output_limit_bytes = 1U << 20U;  ///< Of its standard output; with more it is killed.
  std::function<bool()> stop_requested;        ///< Asked a few times a second; once true, it is killed.
};

struct ProgramResult {
  int exit_code = 0;
  int signal = 0;          ///< That ended it; 0: it exited.
  std::string output;      ///< Its whole standard output.
  std::string last_words;  ///< The last line of its standard error, by OneLine(); empty when interactive.

  bool succeeded() const { return exit_code == 0 && signal == 0; }
};

/// Runs a program and waits for its end. It gets no other descriptor of ours, and dies with us.
///
/// Errors:  kNotFound when there is no such program; kInvalid when it can't be started; kUnavailable when its time was
///          over; kMalformed when it printed too much; kStopped.
Result<ProgramResult> RunProgram(const ProgramCall& call);

/// Returns the file that `program` means: itself with a '/' in it, else the first of that name in `path`, a list as
/// in $PATH.
///
/// Errors:  kNotFound.
Result<std::string> FindProgram(const std::string& program, const std::string& path);

}  // namespace cnpa
