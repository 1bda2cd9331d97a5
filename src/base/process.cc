// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStopCheck{100};
constexpr std::size_t kLastWordsBytes = 4096;
constexpr int kReadsAtOnce = 16;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kInvalid, "cannot make a pipe: " + SystemMessage(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // execve() takes pointers to mutable bytes and does not change them.
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// A child from its start to its end: killed with all its own children if it is still there when this goes.
class Child {
 public:
  explicit Child(const ProgramCall& call) : call_(call) {}
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  Status Start(const std::string& file) {
    Result<Pipe> out = MakePipe();
    if (!out) return tl::unexpected<Error>(out.error());
    Result<Pipe> err = MakePipe();
    if (!err) return tl::unexpected<Error>(err.error());
    Result<Pipe> failure = MakePipe();
    if (!failure) return tl::unexpected<Error>(failure.error());
    const std::vector<char*> arguments = Pointers(call_.arguments);
    const std::vector<char*> environment = Pointers(call_.environment);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) return Fail(ErrorCode::kInvalid, "cannot start '" + file + "': " + SystemMessage(errno));
    if (pid_ == 0) {
      Become(file.c_str(), arguments.data(), environment.data(), out->write.get(), err->write.get(),
             failure->write.get(), parent);
    }
    failure->write = UniqueFd();
    int error_number = 0;
    if (::read(failure->read.get(), &error_number, sizeof(error_number)) == sizeof(error_number)) {
      return Fail(ErrorCode::kInvalid, "cannot start '" + file + "': " + SystemMessage(error_number));
    }
    out_ = std::move(out->read);
    if (!call_.interactive) err_ = std::move(err->read);
    return {};
  }

  /// Reads what it prints until it ends.
  Result<ProgramResult> Finish() {
    const auto deadline = Clock::now() + call_.time_limit;
    ProgramResult result;
    std::string words;
    while (true) {
      // Children of its own may hold the pipes for ever, so its end counts and not theirs.
      const bool ended = Reap(result);
      // A whole pipe and more, yet bounded: what never stops printing must come to its deadline.
      for (int round = 0; round < kReadsAtOnce && Take(out_, result.output); ++round) {
        if (result.output.size() > call_.output_limit_bytes) {
          return Fail(ErrorCode::kMalformed,
                      "it printed more than " + std::to_string(call_.output_limit_bytes) + " bytes");
        }
      }
      for (int round = 0; round < kReadsAtOnce && Take(err_, words); ++round) {
        if (words.size() > kLastWordsBytes) words.erase(0, words.size() - kLastWordsBytes);
      }
      if (ended) break;
      if (call_.stop_requested && call_.stop_requested()) return Fail(ErrorCode::kStopped, "told to end");
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (left <= milliseconds(0)) {
        return Fail(ErrorCode::kUnavailable,
                    "it did not end within " + std::to_string(call_.time_limit.count()) + " ms");
      }
      Wait(std::min(left, kStopCheck));
    }
    result.last_words = LastLine(words);
    return result;
  }

 private:
  /// In the child: only what is safe between fork() and execve().
  [[noreturn]] void Become(const char* file, char* const* arguments, char* const* environment, int out, int err,
                           int failure, pid_t parent) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    if (!call_.interactive) {
      ::setpgid(0, 0);  // Of its own, to be killed as a whole; a terminal would stop such a group.
      const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      ::dup2(null, STDIN_FILENO);
      ::dup2(err, STDERR_FILENO);
    }
    ::dup2(out, STDOUT_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // Sockets of ours too.
    ::execve(file, arguments, environment);
    const int error_number = errno;
    static_cast<void>(!::write(failure, &error_number, sizeof(error_number)));
    ::_exit(127);
  }

  /// Returns whether it has ended, and how.
  bool Reap(ProgramResult& result) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    pid_ = -1;
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return true;
  }

  /// Appends what can be read without waiting; returns whether there may be more.
  static bool Take(UniqueFd& fd, std::string& text) {
    if (!fd) return false;
    pollfd poll{.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (::poll(&poll, 1, 0) <= 0) return false;
    std::array<char, 16384> buffer{};
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) fd = UniqueFd();
    return count > 0;
  }

  /// Waits for something to read, at most `span`; with both pipes closed, for a moment.
  void Wait(milliseconds span) const {
    std::array<pollfd, 2> polls{pollfd{.fd = out_.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = err_.get(), .events = POLLIN, .revents = 0}};
    if (!out_ && !err_) span = std::min(span, milliseconds(2));
    if (!out_ != !err_ && !call_.interactive) span = std::min(span, milliseconds(10));
    ::poll(polls.data(), polls.size(), static_cast<int>(span.count()));
  }

  void Kill() const {
    ::kill(call_.interactive ? pid_ : -pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // It may not have got its group yet.
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  static std::string LastLine(std::string text) {
    while (!text.empty() && std::strchr(" \r\n\t", text.back()) != nullptr) text.pop_back();
    const std::size_t newline = text.find_last_of("\r\n");
    if (newline != std::string::npos) text.erase(0, newline + 1);
    return OneLine(text);
  }

  const ProgramCall& call_;
  pid_t pid_ = -1;
  UniqueFd out_;
  UniqueFd err_;
};

bool IsProgram(const std::string& file) {
  struct stat facts {};
  return ::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

Result<ProgramResult> RunProgram(const ProgramCall& call) {
  const char* path = std::getenv("PATH");
  const Result<std::string> file = FindProgram(call.arguments.front(), path != nullptr ? path : "/usr/bin:/bin");
  if (!file) return tl::unexpected<Error>(file.error());
  Child child(call);
  if (Status started = child.Start(*file); !started) return tl::unexpected<Error>(std::move(started).error());
  return child.Finish();
}

Result<std::string> FindProgram(const std::string& program, const std::string& path) {
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), F_OK) == 0) return program;
    return Fail(ErrorCode::kNotFound, "there is no '" + program + "'");
  }
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    // An empty or relative entry would run what happens to lie in the current folder.
    const std::string_view folder = std::string_view(path).substr(start, end - start);
    const std::string file = ResolvePath(std::string(folder), program);
    if (folder.starts_with('/') && IsProgram(file)) return file;
    start = end + 1;
  }
  return Fail(ErrorCode::kNotFound, "there is no '" + program + "' in $PATH");
}

}  // namespace cnpa
