// SPDX-License-Identifier: Apache-2.0
//
// The loop with a stub as the pass, told by what it prints, what it tells its service manager, and how it ends. Each
// runs in a process of its own, since a supervisor needs one for itself.
#include "app/loop/supervisor.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/core.h>

#include "app/metrics/metrics_file.h"
#include "support/capture.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/notify_socket.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const PassEnded kFine{ExitCode::kConverged, Looked::kAtAll, false, false, "2 team spaces in sync"};
const PassEnded kAway{ExitCode::kUnreadable, Looked::kAtNothing, false, false, {}};

/// What a pass does; it is told its number, from 1 on.
using Stub = std::function<int(int number, int report_fd)>;
using LingeringStub = std::function<int(int number, int report_fd, const PassHint& hint)>;

void Say(int fd, const PassMessage& message) {
  const std::string line = EncodePassMessage(message);
  if (::write(fd, line.data(), line.size()) < 0) std::abort();
}

int End(int fd, const PassEnded& ended) {
  Say(fd, ended);
  return static_cast<int>(ended.code);
}

int EndWith(int fd, const std::string& error) {
  Say(fd, LogEntry{LogLevel::kError, true, error, {}, {}});
  return End(fd, kAway);
}

/// Sends a signal to the supervisor, from within a pass.
void Tell(int signal) {
  ::kill(::getppid(), signal);
}

/// Sends the supervisor a second stop once it has passed the first one on; then waits for its own end.
int StopTwice() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  Tell(SIGTERM);
  int signal = 0;
  ::sigwait(&set, &signal);
  Tell(SIGTERM);
  return static_cast<int>(::sleep(60));
}

/// A number that processes share.
class SharedNumber {
 public:
  SharedNumber()
      : value_(static_cast<int*>(
            ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedNumber() { ::munmap(value_, sizeof(int)); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  SharedNumber(SharedNumber&&) = delete;
  SharedNumber& operator=(SharedNumber&&) = delete;

  int& value() const { return *value_; }

 private:
  int* value_;
};

/// What this process has used of a processor, its children not counted.
int CpuMilliseconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<int>((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                          (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000);
}

struct Bench {
  int code = -1;
  Lines said;
  Lines notified;

  LoopSettings settings{.interval = 1ms, .pass_limit = 60s, .linger_limit = 60s, .patience = 200ms};
  std::string watchdog_usec;
  unsigned time_limit_seconds = 120;     ///< A supervisor that hangs is a failure, and no suite that hangs; 0: none.
  std::chrono::milliseconds cpu{0};      ///< What the supervisor itself has used.
  std::function<void()> before = [] {};  ///< Done in the process of the supervisor.
  std::function<Result<LoopSettings>()> reload = [this]() -> Result<LoopSettings> { return settings; };
  std::function<Status(const FinishedPass&)> count = [](const FinishedPass&) { return Status(); };

  void Run(const Stub& stub) {
    RunLingering([&stub](int number, int fd, const PassHint& /*hint*/) { return stub(number, fd); });
  }

  void RunLingering(const LingeringStub& stub) {
    const NotifySocket socket;
    const SharedNumber passes;
    const SharedNumber used;
    CapturedStream captured(stderr);
    code = ExitCodeOfChild([&] {
      ::alarm(time_limit_seconds);
      before();
      const Log log(LogLevel::kInfo, LogFormat::kText);
      const auto pass = [&](int fd, const PassHint& hint) { return stub(++passes.value(), fd, hint); };
      const LoopWork work{.pass = pass, .reload = reload, .count = count};
      const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
        if (name == "NOTIFY_SOCKET") return socket.name();
        if (name == "WATCHDOG_USEC" && !watchdog_usec.empty()) return watchdog_usec;
        return std::nullopt;
      };
      const ExitCode ended = Supervisor(settings, work, log, ServiceManager::Find(environment, ::getpid())).Run();
      used.value() = CpuMilliseconds();
      // Nobody is left to be waited for.
      if (::waitpid(-1, nullptr, WNOHANG) >= 0) return 99;
      std::fflush(nullptr);
      return static_cast<int>(ended);
    });
    said = LinesOf(captured.Text());
    notified = socket.Received();
    cpu = std::chrono::milliseconds(used.value());
  }
};

TEST_CASE("Supervisor makes pass after pass until it is told to end, and exits with 0", "[app][supervisor]") {
  for (const int signal : {SIGTERM, SIGINT}) {
    Bench bench;
    bench.Run([signal](int number, int fd) {
      Say(fd, LogEntry{LogLevel::kInfo, false, "+ pass " + std::to_string(number), {}, {}});
      if (number == 3) Tell(signal);
      return End(fd, kFine);
    });
    CHECK(bench.code == 0);
    CHECK(bench.said == Lines{"+ pass 1", "+ pass 2", "+ pass 3"});
  }
}

TEST_CASE("Supervisor passes a stop on to the running pass, and waits for what it has to say", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int /*number*/, int fd) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    Tell(SIGTERM);
    int signal = 0;
    ::sigwait(&set, &signal);
    Say(fd, LogEntry{LogLevel::kInfo, false, "ended cleanly", {}, {}});
    return End(fd, {ExitCode::kTerminated, Looked::kAtSome, false, false, {}});
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"ended cleanly"});
  CHECK(bench.notified.back() == "STOPPING=1");
}

TEST_CASE("Supervisor ends a pass at once that does not hear a second stop", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int /*number*/, int /*fd*/) { return StopTwice(); });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: a pass was ended by SIGKILL"});
}

TEST_CASE("Supervisor tells a failure when it begins and when it is over", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    if (number == 5) Tell(SIGTERM);
    return number < 4 ? EndWith(fd, "cannot reach it") : End(fd, kFine);
  });
  CHECK(bench.code == 0);
  REQUIRE(bench.said.size() == 2);
  CHECK(bench.said[0] == "cnpa-op: cannot reach it");
  CHECK(bench.said[1].starts_with("cnpa-op: over after 3 passes in "));
  CHECK(bench.said[1].ends_with(": cannot reach it"));
}

TEST_CASE("Supervisor names how a pass came to its end, and goes on", "[app][supervisor]") {
  struct Case {
    std::string name;
    Stub first;
    std::string want;
  };
  const Case cases[] = {
      {"killed", [](int, int) { return ::kill(::getpid(), SIGKILL); }, "a pass was ended by SIGKILL"},
      {"ended by another", [](int, int) { return ::kill(::getpid(), SIGUSR2); }, "a pass was ended by SIGUSR2"},
      {"another code", [](int, int) { return 77; }, "a pass was ended by exit code 77"},
      {"0 without a report", [](int, int) { return 0; }, "a pass was ended by exit code 0"},
      {"another code than it says", [](int, int fd) { return End(fd, kFine), 9; }, "a pass was ended by exit code 9"},
      {"hangs", [](int, int) { return static_cast<int>(::sleep(60)); }, "a pass did not end within 300 ms: killed"},
      {"nonsense", [](int, int fd) { return ::write(fd, "abc\n", 4) > 0 ? End(fd, kFine) : 1; },
       "warning: a pass sent a report that can't be parsed"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Bench bench;
      bench.settings.pass_limit = 300ms;
      bench.Run([&c](int number, int fd) {
        if (number == 1) return c.first(number, fd);
        Tell(SIGTERM);
        return End(fd, kFine);
      });
      CHECK(bench.code == 0);
      REQUIRE_FALSE(bench.said.empty());
      CHECK(bench.said[0] == "cnpa-op: " + c.want);
    }
  }
}

/// Has this process be one that can be killed and not be waited for, as one is that waits in the kernel for a disk:
/// until `let_go` is set. (A process that is traced is its tracer's to wait for.)
void BecomeUndying(const SharedNumber& let_go) {
  const pid_t self = ::getpid();
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::array<int, 2> traced{};
  if (::pipe(traced.data()) != 0) std::abort();
  if (::fork() == 0) {
    ::setsid();
    if (::ptrace(PTRACE_SEIZE, self, nullptr, nullptr) != 0 || ::write(traced[1], "x", 1) != 1) ::_exit(1);
    for (int i = 0; i < 3000 && let_go.value() == 0; ++i) ::usleep(10000);
    ::_exit(0);
  }
  ::close(traced[1]);
  char byte = 0;
  if (::read(traced[0], &byte, 1) != 1) std::abort();
}

TEST_CASE("Supervisor names a pass that can't be killed, and leaves it behind", "[app][supervisor]") {
  const SharedNumber let_go;
  Bench bench;
  bench.settings.pass_limit = 1500ms;  // Far longer than the others take, on a busy machine too.
  bench.watchdog_usec = "1000000";
  bench.Run([&](int number, int fd) {
    if (number == 1) {
      BecomeUndying(let_go);
      return static_cast<int>(::sleep(60));
    }
    if (number == 3) {
      let_go.value() = 1;
      ::usleep(200000);  // Until it is gone.
    }
    if (number == 5) Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  REQUIRE(bench.said.size() == 4);
  CHECK(bench.said[0] == "cnpa-op: a pass did not end within 1.5 s: killed");
  CHECK(bench.said[1] ==
        "cnpa-op: a pass can't be killed, since it waits for a disk or a network file system: left behind");
  CHECK(bench.said[2].ends_with(": a pass did not end within 1.5 s: killed"));
  CHECK(bench.said[3].starts_with("cnpa-op: over after "));
  CHECK(bench.said[3].ends_with(": a pass can't be killed"));
  const auto& notified = bench.notified;
  CHECK(std::count(notified.begin(), notified.end(), "STATUS=killing a pass that did not end in time") == 1);
  CHECK(std::count(notified.begin(), notified.end(), "WATCHDOG=1") >= 4);
}

TEST_CASE("Supervisor starts no more passes while too many can't be killed, and says so", "[app][supervisor]") {
  const SharedNumber let_go;
  Bench bench;
  bench.settings.pass_limit = 500ms;
  bench.Run([&](int number, int fd) {
    if (number <= 4) {
      BecomeUndying(let_go);
      if (number == 4) {
        const pid_t supervisor = ::getppid();
        if (::fork() == 0) {
          ::setsid();
          ::sleep(2);  // It is left behind, and then nothing happens.
          ::kill(supervisor, SIGUSR1);
          ::usleep(200000);
          let_go.value() = 1;
          ::_exit(0);
        }
      }
      return static_cast<int>(::sleep(60));
    }
    ::usleep(300000);  // Until all are gone that the others had started.
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  const std::string full =
      "cnpa-op: a pass can't be killed, since it waits for a disk or a network file system: left behind; with 4 of "
      "them no other one is started";
  CHECK(std::count(bench.said.begin(), bench.said.end(), full) == 1);
  const std::string state = "4 passes can't be killed: no other one is started until one of them has ended";
  CHECK(std::count(bench.notified.begin(), bench.notified.end(), "STATUS=" + state) == 1);
  CHECK(std::any_of(bench.said.begin(), bench.said.end(), [&state](const std::string& line) {
    return line.starts_with("cnpa-op: 4 passes in ") && line.find(state) != std::string::npos;
  }));
}

TEST_CASE("Supervisor ends what a killed pass has started", "[app][supervisor]") {
  const SharedNumber child;
  const SharedNumber grandchild;
  const SharedNumber left;
  Bench bench;
  bench.Run([&](int number, int fd) {
    if (number == 1) {
      const pid_t own = ::fork();
      if (own == 0) {
        ::setpgid(0, 0);
        const pid_t its = ::fork();
        if (its > 0) grandchild.value() = its;
        ::sleep(60);
        ::_exit(0);
      }
      child.value() = own;
      while (grandchild.value() == 0) ::usleep(1000);
      return ::kill(::getpid(), SIGKILL);
    }
    for (int i = 0; i < 2000 && (::kill(child.value(), 0) == 0 || ::kill(grandchild.value(), 0) == 0); ++i) {
      ::usleep(1000);
    }
    left.value() = ::kill(child.value(), 0) == 0 || ::kill(grandchild.value(), 0) == 0 ? 1 : 0;
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(grandchild.value() > 0);
  CHECK(left.value() == 0);
}

TEST_CASE("Supervisor sleeps while a pass is at work", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int /*number*/, int fd) {
    ::usleep(500000);
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(bench.cpu < 100ms);
}

TEST_CASE("Supervisor counts every pass, by how it came to its end", "[app][supervisor]") {
  Bench bench;
  bench.settings.pass_limit = 500ms;
  bench.count = [](const FinishedPass& pass) {
    // Where a test hears it: this is the supervisor's process.
    std::fprintf(stderr, "%s %d %d\n", kPassEnds.at(static_cast<std::size_t>(pass.end)).data(),
                 pass.numbers == PassNumbers{.read = true}, pass.took > 0us && pass.took < 60s);
    return Status();
  };
  bench.Run([](int number, int fd) {
    switch (number) {
      case 1: return End(fd, {ExitCode::kConverged, Looked::kAtAll, false, false, {}, {.read = true}});
      case 2: return End(fd, {ExitCode::kUnreadable, Looked::kAtNothing, false, false, {}});
      case 3: return ::kill(::getpid(), SIGKILL);
      case 4: return End(fd, {ExitCode::kConverged, Looked::kAtAll, false, false, {}, {.read = true}}), 9;
      case 5: return static_cast<int>(::sleep(60));
      default: return StopTwice();
    }
  });
  std::erase_if(bench.said, [](const std::string& line) { return line.starts_with("cnpa-op: "); });
  CHECK(bench.said ==
        Lines{"converged 1 1", "unreadable 0 1", "crashed 0 1", "crashed 0 1", "overdue 0 1", "stopped 0 1"});
}

TEST_CASE("Supervisor tells once that a count can't be written, and when that is over", "[app][supervisor]") {
  Bench bench;
  const SharedNumber counted;
  bench.count = [&counted](const FinishedPass&) -> Status {
    if (++counted.value() == 1) return Fail(ErrorCode::kMalformed, "started anew");
    if (counted.value() < 5) return Fail(ErrorCode::kInvalid, "cannot write '/x': read-only file system");
    return {};
  };
  bench.Run([](int number, int fd) {
    if (number == 6) Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  REQUIRE(bench.said.size() == 3);
  CHECK(bench.said[0] == "cnpa-op: warning: started anew");
  CHECK(bench.said[1] == "cnpa-op: warning: cannot write '/x': read-only file system");
  CHECK(bench.said[2].starts_with("cnpa-op: over after 3 passes in "));
  CHECK(bench.said[2].ends_with(": no metrics can be written"));
}

TEST_CASE("Supervisor forgets a line without end", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    const std::string much(std::size_t{1} << 20U, 'x');
    if (number == 1) return static_cast<int>(::write(fd, much.data(), much.size()) < 0);
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(bench.said.front() == "cnpa-op: a pass was ended by exit code 0");
}

TEST_CASE("Supervisor is ready once the cluster has been read, and tells its state", "[app][supervisor]") {
  Bench bench;
  bench.settings.pass_limit = 70s;
  bench.Run([](int number, int fd) {
    Say(fd, PassObserved{});
    if (number == 2) Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.notified == Lines{"EXTEND_TIMEOUT_USEC=74500000", "READY=1\nSTATUS=the first pass is at work",
                                "STATUS=2 team spaces in sync", "STOPPING=1\nSTATUS=ending the last pass",
                                "STOPPING=1"});
}

TEST_CASE("Supervisor is ready when the first pass has failed, too", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    if (number == 2) Tell(SIGTERM);
    return EndWith(fd, "cannot reach it");
  });
  REQUIRE(bench.notified.size() >= 3);
  CHECK(bench.notified[1] == "READY=1\nSTATUS=cannot reach it; 1 failed pass so far, trying every 1 ms");
}

TEST_CASE("Supervisor tells the watchdog that it is alive, also while a pass is at work", "[app][supervisor]") {
  Bench bench;
  bench.watchdog_usec = "30000";
  bench.Run([](int /*number*/, int fd) {
    ::usleep(200000);
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  // Every 10 ms for 200 ms; a busy machine may be late.
  CHECK(std::count(bench.notified.begin(), bench.notified.end(), "WATCHDOG=1") >= 4);
}

TEST_CASE("Supervisor reads its configuration anew, and makes a pass at once", "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.reload = [&bench]() -> Result<LoopSettings> { return LoopSettings{1ms, bench.settings.pass_limit}; };
  bench.Run([](int number, int fd) {
    Say(fd, PassObserved{});
    ::usleep(50000);
    if (number == 1) Tell(SIGHUP);
    if (number == 3) Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: configuration read anew; a pass follows"});
  REQUIRE(bench.notified.size() > 4);
  CHECK(bench.notified[2].starts_with("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(bench.notified[3].starts_with("READY=1\nSTATUS="));
}

TEST_CASE("Supervisor is not ready for being told to read its configuration", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int /*number*/, int fd) {
    Tell(SIGHUP);
    ::usleep(50000);
    Tell(SIGTERM);
    return End(fd, {ExitCode::kTerminated, Looked::kAtNothing, false, false, {}});
  });
  for (const std::string& told : bench.notified) CHECK_FALSE(told.starts_with("READ"));
}

TEST_CASE("Supervisor says on a reload what takes a restart", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    if (number == 2) Tell(SIGHUP);
    if (number == 3) Tell(SIGTERM);
    return End(fd, {ExitCode::kConverged, Looked::kAtAll, false, true, "in sync"});
  });
  CHECK(
      bench.said ==
      Lines{
          "cnpa-op: configuration read anew; a pass follows",
          "cnpa-op: the kubeconfig is the one that systemd loaded at the start: to take another, restart the service"});
}

TEST_CASE("Supervisor keeps its deadlines while a pass talks without end", "[app][supervisor]") {
  Bench bench;
  bench.settings.pass_limit = 300ms;
  bench.Run([](int number, int fd) {
    if (number == 1) {
      for (;;) Say(fd, LogEntry{LogLevel::kWarn, true, "again", {}, {}});
    }
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  REQUIRE(bench.said.size() >= 2);
  CHECK(bench.said[0] == "cnpa-op: warning: again");
  CHECK(bench.said[1] == "cnpa-op: a pass did not end within 300 ms: killed");
}

TEST_CASE("Supervisor waits for its passes also where children were to be ignored", "[app][supervisor]") {
  Bench bench;
  bench.before = [] { ::signal(SIGCHLD, SIG_IGN); };
  bench.Run([](int number, int fd) {
    if (number == 3) Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(bench.said.empty());
}

TEST_CASE("Supervisor keeps its configuration when the new one is wrong, and makes a pass at once",
          "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.reload = [] { return Fail(ErrorCode::kInvalid, "/etc/x:3: unknown key 'a'"); };
  bench.Run([](int number, int fd) {
    Tell(number == 1 ? SIGHUP : SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: /etc/x:3: unknown key 'a': the configuration stays as it was"});
}

TEST_CASE("Supervisor says what is going on when it is asked", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    if (number == 2) {
      Tell(SIGUSR1);
      ::usleep(20000);
      Tell(SIGTERM);
    }
    return End(fd, kFine);
  });
  REQUIRE(bench.said.size() == 1);
  CHECK(bench.said[0].starts_with("cnpa-op: 1 pass in "));
  CHECK(bench.said[0].find(": 2 team spaces in sync; a pass has been running for ") != std::string::npos);
  CHECK(bench.said[0].ends_with("; 0 problems now"));
}

TEST_CASE("Supervisor ends with 2 when the first pass can't use its credentials, and not later", "[app][supervisor]") {
  Bench bench;
  const auto unusable = [](int fd) {
    Say(fd, LogEntry{LogLevel::kError, true, "no kubeconfig", {}, {}});
    return End(fd, {ExitCode::kUsage, Looked::kAtNothing, false, false, {}});
  };
  bench.Run([&unusable](int /*number*/, int fd) { return unusable(fd); });
  CHECK(bench.code == 2);
  // So it stands in the status of the failed unit.
  REQUIRE(bench.notified.size() >= 2);
  CHECK(bench.notified[bench.notified.size() - 2] == "STATUS=no kubeconfig");
  CHECK(bench.said == Lines{"cnpa-op: no kubeconfig"});
  bench.Run([&unusable](int number, int fd) {
    if (number == 3) Tell(SIGTERM);
    return number == 1 ? End(fd, kFine) : unusable(fd);
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: no kubeconfig"});
}

TEST_CASE("Supervisor stays when credentials are refused that are new", "[app][supervisor]") {
  Bench bench;
  bench.Run([](int number, int fd) {
    if (number == 2) Tell(SIGTERM);
    Say(fd, LogEntry{LogLevel::kError, true, "unauthorized", {}, {}});
    return End(fd, {ExitCode::kUnreadable, Looked::kAtNothing, true, true, {}});
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: unauthorized"});
}

std::size_t OpenFiles(pid_t pid) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

/// Returns the kilobytes that only the process has, and that differ from what is on disk.
long PrivateKilobytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Private_Dirty:")) return std::stol(line.substr(14));
  }
  return -1;
}

#if defined(__has_feature)
constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kHasAddressSanitizer = false;
#endif

/// Makes `count` passes that fail in ever other ways, and returns what went wrong.
int MakePassesAndMeasure(int count, unsigned time_limit_seconds) {
  const SharedNumber files;
  const SharedNumber kilobytes;
  const TempFolder folder;
  MetricsFile metrics(folder.Path("cnpa-op.prom"));
  Bench bench;
  const SharedNumber ended;
  bench.time_limit_seconds = time_limit_seconds;
  bench.count = [&](const FinishedPass& pass) {
    // Between two passes, in the supervisor: as it is once it has seen all kinds of pass, and at the end.
    const int number = ++ended.value();
    if (number == count / 10) {
      files.value() = static_cast<int>(OpenFiles(::getpid()));
      kilobytes.value() = static_cast<int>(PrivateKilobytes(::getpid()));
    }
    if (number == count) {
      files.value() -= static_cast<int>(OpenFiles(::getpid()));
      kilobytes.value() -= static_cast<int>(PrivateKilobytes(::getpid()));
      ::kill(::getpid(), SIGTERM);
    }
    return metrics.Add(pass);
  };
  const std::array<Stub, 4> stubs{
      [](int, int fd) { return End(fd, kFine); },
      [](int number, int fd) {
        Say(fd, LogEntry{LogLevel::kWarn, false, "!", "TeamSpace/" + std::to_string(number % 50), {}});
        return End(fd, kFine);
      },
      [](int, int) { return ::kill(::getpid(), SIGKILL); },
      [](int, int fd) { return End(fd, kFine); },
  };
  bench.settings.interval = 0ms;
  bench.Run([&](int number, int fd) { return stubs[static_cast<std::size_t>(number) % stubs.size()](number, fd); });
  CHECK(files.value() == 0);
  // ASan keeps what was freed for a while; what leaks it finds itself.
  if (!kHasAddressSanitizer) CHECK(-kilobytes.value() < 256);
  return bench.code;
}

TEST_CASE("Supervisor leaks nothing in 2,000 passes and leaves no zombie", "[app][supervisor]") {
  CHECK(MakePassesAndMeasure(2000, 600) == 0);
}

TEST_CASE("Supervisor leaks nothing in 100,000 passes and leaves no zombie", "[.long][supervisor]") {
  CHECK(MakePassesAndMeasure(100000, 0) == 0);
}

/// Ends as a pass does that found nothing to write and now waits for something to do.
void Linger(int fd) {
  Say(fd, kFine);
  Say(fd, PassLingers{});
}

int WakeUp(int fd, WakeCause cause, const std::string& words = "something to do") {
  Say(fd, Wake{cause, "red", words});
  return 0;
}

int EndHavingWritten(int fd) {
  PassEnded ended = kFine;
  ended.numbers.writes[0] = 1;
  return End(fd, ended);
}

/// Waits for SIGTERM, or for `most`; returns whether it came.
bool WaitForStop(std::chrono::seconds most) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const timespec span{.tv_sec = most.count(), .tv_nsec = 0};
  return ::sigtimedwait(&set, nullptr, &span) == SIGTERM;
}

int MillisecondsNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count() % 1'000'000'000);
}

/// Has a pass say what it was told by the one before; HintsOf() finds it among what was said.
void SayHint(int number, int fd, const PassHint& hint) {
  Say(fd, LogEntry{LogLevel::kInfo, false, fmt::format("pass {} '{}'", number, hint.team_space), {}, {}});
}

Lines HintsOf(Lines said) {
  std::erase_if(said, [](const std::string& line) { return !line.starts_with("pass "); });
  return said;
}

TEST_CASE("Supervisor handles a signal that came before it ran", "[app][supervisor]") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    DYNAMIC_SECTION("signal " << signal) {
      Bench bench;
      bench.settings.interval = 1h;
      bench.before = [signal] {
        Supervisor::BlockSignals();
        ::raise(signal);
      };
      // A reload has a second pass follow, a stop leaves none behind.
      bench.Run([](int number, int fd) {
        if (number == 2) Tell(SIGTERM);
        return End(fd, kFine);
      });
      CHECK(bench.code == 0);
      const bool reloaded = bench.said == Lines{"cnpa-op: configuration read anew; a pass follows"};
      CHECK(reloaded == (signal == SIGHUP));
    }
  }
}

TEST_CASE("Supervisor::BlockSignals returns the mask that was set before", "[app][supervisor]") {
  CHECK(ExitCodeOfChild([] {
          sigset_t set;
          ::sigemptyset(&set);
          ::sigaddset(&set, SIGUSR2);
          ::sigprocmask(SIG_SETMASK, &set, nullptr);
          const sigset_t before = Supervisor::BlockSignals();
          sigset_t now;
          ::sigprocmask(SIG_SETMASK, nullptr, &now);
          const bool blocked = ::sigismember(&now, SIGTERM) == 1 && ::sigismember(&now, SIGHUP) == 1;
          return blocked && ::sigismember(&before, SIGUSR2) == 1 && ::sigismember(&before, SIGTERM) == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("Supervisor has passes introduce themselves until one has read the cluster", "[app][supervisor]") {
  Bench bench;
  bench.RunLingering([](int number, int fd, const PassHint& hint) {
    Say(fd, LogEntry{LogLevel::kInfo, false, fmt::format("pass {}{}", number, hint.introduce ? "!" : ""), {}, {}});
    if (number == 3) Tell(SIGTERM);
    return number == 1 ? EndWith(fd, "away") : End(fd, kFine);
  });
  CHECK(HintsOf(bench.said) == Lines{"pass 1!", "pass 2!", "pass 3"});
}

TEST_CASE("Supervisor has a pass follow at once on one that lingered and found something to do", "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.RunLingering([](int number, int fd, const PassHint& hint) {
    SayHint(number, fd, hint);
    if (number == 1) {
      Linger(fd);
      return WakeUp(fd, WakeCause::kSomethingToDo);
    }
    if (number == 2) {
      Tell(SIGHUP);
      return EndHavingWritten(fd);
    }
    Tell(SIGTERM);
    return End(fd, kFine);
  });
  CHECK(bench.code == 0);
  CHECK(HintsOf(bench.said) == Lines{"pass 1 ''", "pass 2 'red'", "pass 3 ''"});
}

TEST_CASE("Supervisor keeps the interval between two passes that write, and between two false alarms",
          "[app][supervisor]") {
  for (const bool second_writes : {true, false}) {
    CAPTURE(second_writes);
    Bench bench;
    bench.settings.interval = 300ms;
    const SharedNumber ended;
    const SharedNumber began;
    bench.Run([&](int number, int fd) {
      // The second pass is one that was woken. Either it writes, and a reload has the third one follow at once, which
      // is woken too; or there was nothing to do.
      if (number == 2) {
        ended.value() = MillisecondsNow();
        if (second_writes) {
          Tell(SIGHUP);
          return EndHavingWritten(fd);
        }
      }
      if (number == 4 || (number == 3 && !second_writes)) {
        began.value() = MillisecondsNow();
        Tell(SIGTERM);
        return End(fd, kFine);
      }
      Linger(fd);
      return WakeUp(fd, WakeCause::kSomethingToDo);
    });
    CHECK(bench.code == 0);
    CHECK(began.value() - ended.value() >= 300);
  }
}

TEST_CASE("Supervisor says once that no permission to watch, and has no pass linger until the next reload",
          "[app][supervisor]") {
  Bench bench;
  bench.RunLingering([](int number, int fd, const PassHint& hint) {
    Say(fd, LogEntry{LogLevel::kInfo, false, fmt::format("pass {} {}", number, hint.may_linger), {}, {}});
    if (number == 4) Tell(SIGHUP);
    if (number == 6) Tell(SIGTERM);
    if (!hint.may_linger) return End(fd, kFine);
    Linger(fd);
    return WakeUp(fd, WakeCause::kForbidden, "cannot watch teamspaces");
  });
  CHECK(bench.code == 0);
  const std::string told =
      "cnpa-op: warning: --linger is off for 10 minutes: no permission to watch: cannot watch teamspaces";
  const std::string reloaded = "cnpa-op: configuration read anew; a pass follows";
  REQUIRE(bench.said.size() >= 7);
  CHECK(Lines(bench.said.begin(), bench.said.begin() + 4) == Lines{"pass 1 true", "pass 2 true", told, "pass 3 false"});
  CHECK(std::count(bench.said.begin(), bench.said.end(), told) == 1);
  CHECK(std::count(bench.said.begin(), bench.said.end(), reloaded) == 1);
  CHECK(std::count(bench.said.begin(), bench.said.end(), "pass 5 true") == 1);
}

TEST_CASE("Supervisor wakes a pass that lingers for a reload and for a stop", "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.Run([](int number, int fd) {
    Linger(fd);
    Tell(number == 1 ? SIGHUP : SIGTERM);
    if (!WaitForStop(60s)) Say(fd, LogEntry{LogLevel::kError, false, "nobody woke it", {}, {}});
    return WakeUp(fd, WakeCause::kToldToEnd, "told to end");
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines{"cnpa-op: configuration read anew; a pass follows"});
}

/// Sends a signal to the supervisor when what the pass says until its end has been seen to.
void TellLater(int signal) {
  const pid_t supervisor = ::getppid();
  if (::fork() != 0) return;
  ::setsid();
  std::this_thread::sleep_for(300ms);
  ::kill(supervisor, signal);
  ::_exit(0);
}

TEST_CASE("Supervisor forgets at a reload what passes of the old configuration have found", "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.RunLingering([](int number, int fd, const PassHint& hint) {
    SayHint(number, fd, hint);
    if (number == 3) {
      Tell(SIGTERM);
      return End(fd, kFine);
    }
    // The second one is woken for nothing: what it finds itself waits for the interval.
    if (number == 2) TellLater(SIGHUP);
    Linger(fd);
    return WakeUp(fd, WakeCause::kSomethingToDo);
  });
  CHECK(HintsOf(bench.said) == Lines{"pass 1 ''", "pass 2 'red'", "pass 3 ''"});
}

TEST_CASE("Supervisor wakes a pass that lingers once, however often it is told to read its configuration anew",
          "[app][supervisor]") {
  Bench bench;
  bench.settings.interval = 1h;
  bench.Run([](int number, int fd) {
    if (number == 2) {
      Tell(SIGTERM);
      return End(fd, kFine);
    }
    Linger(fd);
    Tell(SIGHUP);
    if (!WaitForStop(60s)) Say(fd, LogEntry{LogLevel::kError, false, "nobody woke it", {}, {}});
    Tell(SIGHUP);
    if (WaitForStop(1s)) Say(fd, LogEntry{LogLevel::kError, false, "it was woken twice", {}, {}});
    return WakeUp(fd, WakeCause::kToldToEnd, "told to end");
  });
  CHECK(bench.code == 0);
  CHECK(bench.said == Lines(2, "cnpa-op: configuration read anew; a pass follows"));
}

TEST_CASE("Supervisor names once what ended a pass that lingered, and does without for a while", "[app][supervisor]") {
  for (const bool killed : {true, false}) {
    Bench bench;
    if (!killed) bench.settings.linger_limit = 50ms;
    bench.RunLingering([killed](int number, int fd, const PassHint& hint) {
      if (number == 3) Tell(SIGTERM);
      if (!hint.may_linger) return End(fd, kFine);
      Linger(fd);
      if (killed) ::raise(SIGKILL);
      std::this_thread::sleep_for(60s);
      return 0;
    });
    CHECK(bench.code == 0);
    CHECK(bench.said == Lines{killed ? "cnpa-op: a pass that lingered was ended by SIGKILL"
                                     : "cnpa-op: a pass that lingered did not wake up in time: killed"});
  }
}

}  // namespace
}  // namespace cnpa
