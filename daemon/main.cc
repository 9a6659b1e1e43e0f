// nanwatchd: flags, signals, the watchdog. What it does is in app/daemon.h.

#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include "app/config_files.h"
#include "app/daemon.h"
#include "app/job_lock.h"
#include "app/supervisor.h"
#include "app/version.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/resident.h"
#include "config/config.h"
#include "rpc/callers.h"

namespace nanwatch {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
// Of the 5 s that TERM may take. After a flood gRPC takes down for longer what
// it has taken in.
constexpr std::chrono::seconds kEndMost{3};

struct Flags {
  std::string config;
  std::string socket;
  std::string history;
  std::string listen;
  std::string upstream;
  std::string while_locked;
  bool check_config = false;
  bool log_json = false;
};

// The file, and over it the flags. Errors are printed, all of them.
Result<DaemonConfig> ReadConfig(const Flags& flags) {
  Result<DaemonConfig> config = flags.config.empty()
                                    ? Result<DaemonConfig>(DefaultConfig())
                                    : LoadConfig(flags.config);
  if (!config.ok()) return config;
  const Status applied =
      ApplyFlags({flags.socket, flags.listen, flags.upstream}, &*config);
  if (!applied.ok()) return Error{applied.error()};
  if (flags.history == "off") {
    config->history_enabled = false;
  } else if (!flags.history.empty()) {
    config->history.path = flags.history;
  }
  if (!config->history_enabled && !config->upstream.address.empty()) {
    return Error{
        "--upstream: what is forwarded comes out of the history, which is off: "
        "set history.enabled: true."};
  }
  if (config->upstream.address == "unix:" + config->server.socket_path) {
    return Error{"--upstream: this daemon cannot be its own upstream."};
  }
  if (flags.log_json) config->log.json = true;
  return config;
}

int CheckOnly(const Flags& flags) {
  const char* const named =
      flags.config.empty() ? "defaults" : flags.config.c_str();
  const Result<DaemonConfig> config = ReadConfig(flags);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.error().c_str());
    return kExitUsage;
  }
  if (const Status files = TryConfigFiles(*config); !files.ok()) {
    std::fprintf(stderr, "%s: %s\n", named, files.error().c_str());
    return kExitUsage;
  }
  std::printf("%s: fine\n", named);
  return 0;
}

// Who sent the signal; the kernel itself where a terminal hangs up.
Caller SenderOf(const siginfo_t& signal) {
  if (signal.si_code > 0) return {};
  Caller sender = Callers({}).OfUser(signal.si_uid);
  sender.from = "pid " + std::to_string(signal.si_pid);
  return sender;
}

void Reload(const Flags& flags, const Caller& who, Daemon* daemon) {
  const Status done = daemon->Reload(ReadConfig(flags), who);
  if (done.ok()) {
    LogInfo("configuration reloaded");
  } else {
    LogError("configuration not reloaded, the old one stays", done.error());
  }
}

// Signals that the main thread waits for; blocked in every thread.
sigset_t WaitedFor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// What was acknowledged is on disk, whenever this ends: the rest is as after a
// KILL, and clients send it again.
void EndInTime() {
  std::thread([] {
    std::this_thread::sleep_for(kEndMost);
    LogWarning("nanwatchd ended", "what was open is left to the kernel");
    std::_Exit(0);
  }).detach();
}

int Serve(const Flags& flags) {
  const sigset_t signals = WaitedFor();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a write that fails
  Result<DaemonConfig> config = ReadConfig(flags);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.error().c_str());
    return kExitUsage;
  }
  InitLog(config->log.level, config->log.json);
  if (!flags.while_locked.empty()) {
    const Status job = EndWithLock(flags.while_locked);
    if (!job.ok()) {
      LogError("nanwatchd could not start", "--while-locked " + job.error());
      return kExitUsage;
    }
  }
  Result<std::unique_ptr<Daemon>> daemon =
      Daemon::Start(std::move(*config), SystemClock());
  if (!daemon.ok()) {
    LogError("nanwatchd could not start", daemon.error());
    return kExitFailed;
  }
  LogInfo("nanwatchd listens",
          fmt::format("ingest={} http={}", (*daemon)->ingest_address(),
                      (*daemon)->http_address()));
  Supervisor supervisor;
  supervisor.Ready();
  ForgetStartupCode();
  while (true) {
    const timespec wait = supervisor.Interval();
    siginfo_t signal{};
    const int number = sigtimedwait(&signals, &signal, &wait);
    if (number == SIGTERM || number == SIGINT) break;
    if (number == SIGHUP) {
      Reload(flags, SenderOf(signal), daemon->get());
    }
    supervisor.Alive((*daemon)->turns());
    supervisor.Say((*daemon)->Condition());
  }
  supervisor.Stopping();
  EndInTime();
  (*daemon)->Stop();
  LogInfo("nanwatchd ended");
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "nanwatchd watches the numerics of training runs.\n"
      "Without a configuration it listens on a unix socket, keeps its history "
      "in one file,\nand shows pages and metrics on the loopback.",
      "nanwatchd");
  // The last one wins, so that a wrapper's flags can be overridden.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_version_flag("--version", VersionLine("nanwatchd"));
  app.add_option("--config", flags.config,
                 "YAML file; see deploy/nanwatch.yaml")
      ->check(CLI::ExistingFile);
  app.add_flag("--check-config", flags.check_config,
               "only read the configuration, and say what is wrong with it");
  // An empty one is a shell variable that was not set, not the default.
  const CLI::Validator said(
      [](std::string& text) -> std::string {
        return text.empty() ? "it is empty: leave the flag out for the default"
                            : "";
      },
      "");
  app.add_option("--socket", flags.socket,
                 "unix socket for trainings, or 'off'")
      ->check(said);
  app.add_option("--history", flags.history, "history file, or 'off'")
      ->check(said);
  app.add_option("--listen", flags.listen, "address:port for HTTP, or 'off'")
      ->check(said);
  app.add_option("--upstream", flags.upstream,
                 "daemon that judges the whole job, of which this one keeps a "
                 "part: tls://HOST:PORT")
      ->check(said);
  app.add_option("--while-locked", flags.while_locked,
                 "end when no process holds a lock (flock) on this file, which "
                 "is there already")
      ->check(said);
  app.add_flag("--log-json", flags.log_json, "one JSON object a log line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  return flags.check_config ? CheckOnly(flags) : Serve(flags);
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  // Before all else: a HUP that comes early is read once the daemon serves.
  sigset_t reload;
  sigemptyset(&reload);
  sigaddset(&reload, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &reload, nullptr);
  // What it keeps is not for others. The socket's mode is set by itself.
  umask(0077);
  nanwatch::SetUpMalloc();
  return nanwatch::Main(argc, argv);
}
