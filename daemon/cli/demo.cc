#include "cli/demo.h"

#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/demo_run.h"
#include "cli/own_daemon.h"

namespace nanwatch {
namespace {

constexpr std::array kKinds = {DemoKind::kHealthy, DemoKind::kCollapse,
                               DemoKind::kPadding, DemoKind::kNan,
                               DemoKind::kDivergence};
// Told at once, as of the last minute; then one each tenth of a second.
constexpr int kSteps = 600;
constexpr std::chrono::milliseconds kStep(100);
constexpr int kFlushMs = 10000;

// A folder that goes with this.
class DemoFolder {
 public:
  DemoFolder() {
    std::error_code none;
    path_ = std::filesystem::temp_directory_path(none) / "nanwatch-demo-XXXXXX";
    std::string name = path_.string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~DemoFolder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Returns whether a person pressed ^C, or somebody ended the program, within
// the time of a step.
bool Interrupted(const sigset_t& signals) {
  const timespec wait = {0, std::chrono::nanoseconds(kStep).count()};
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

// Five runs at the daemon there. False: it did not take them in time.
bool Begin(const std::string& address, std::deque<DemoRun>* runs) {
  for (const DemoKind kind : kKinds) runs->emplace_back(kind, address);
  const Time now = SystemClock().Now();
  for (int step = 0; step < kSteps; ++step) {
    for (DemoRun& run : *runs) run.Tell(now - (kSteps - step) * kStep);
  }
  // Where the first waits in vain, so would the others.
  return std::all_of(runs->begin(), runs->end(),
                     [](DemoRun& run) { return run.Flush(kFlushMs); });
}

void Print(const std::string& page) {
  for (const DemoKind kind : kKinds) {
    std::printf("  %-16s %s\n", std::string(DemoRun::Name(kind)).c_str(),
                std::string(DemoRun::About(kind)).c_str());
  }
  if (!page.empty()) std::printf("\n%s\n", page.c_str());
  std::fflush(stdout);
}

}  // namespace

int Demo(const std::string& address) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const DemoFolder folder;
  OwnDaemon daemon;
  std::string where = address;
  if (address.empty()) {
    if (folder.path().empty()) {
      return Fail("there is no place for a folder in TMPDIR or /tmp",
                  kExitFailed);
    }
    const Result<std::string> started = daemon.StartIn(folder.path());
    if (!started.ok()) return Fail(started.error(), kExitFailed);
    where = *started;
  }
  std::deque<DemoRun> runs;
  if (!Begin(where, &runs)) {
    return Fail("no nanwatchd at " + where + " took the runs", kExitFailed);
  }
  std::printf("Five runs:\n\n");
  Print(daemon.page());
  if (!address.empty()) return 0;
  std::printf(
      "The page is there until ^C. Another terminal sees the runs by\n"
      "  nanwatch --address %s runs\n",
      where.c_str());
  std::fflush(stdout);
  while (!Interrupted(signals)) {
    for (DemoRun& run : runs) run.Tell(SystemClock().Now());
  }
  return 0;
}

}  // namespace nanwatch
