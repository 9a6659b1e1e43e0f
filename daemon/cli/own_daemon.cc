#include "cli/own_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kUnix = "unix:";
// In the line that says where it listens (daemon/main.cc).
constexpr std::string_view kPage = " http=";
constexpr size_t kFirstBytes = 65536;  // far more than comes before that line
// A daemon with a long history listens after some tenths of a second.
constexpr std::chrono::seconds kStart(10);
constexpr std::chrono::milliseconds kLook(20);
// What a service manager means for this program, not for what it starts.
constexpr std::array<std::string_view, 5> kNotItsOwn = {
    "NOTIFY_SOCKET=", "RUNTIME_DIRECTORY=", "STATE_DIRECTORY=", "WATCHDOG_PID=",
    "WATCHDOG_USEC="};

bool Listens(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return false;
  std::memcpy(name.sun_path, path.data(), path.size());
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool there =
      connect(probe, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  close(probe);
  return there;
}

// Not one that somebody else made in /tmp.
bool IsOwnFolder(const std::string& path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == getuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// -1: somebody else has it, or there is no such place.
int Lock(const std::string& path, int kind) {
  const int file =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0 && flock(file, kind | LOCK_NB) != 0) {
    close(file);
    return -1;
  }
  return file;
}

std::string DaemonProgram() {
  const std::string named = ProcessEnvironment()("NANWATCH_DAEMON");
  if (!named.empty()) return named;
  std::array<char, 4096> self{};
  const ssize_t n = readlink("/proc/self/exe", self.data(), self.size());
  if (n > 0) {
    const std::string path(self.data(), static_cast<size_t>(n));
    const std::string beside = ParentDirectory(path) + "/nanwatchd";
    if (access(beside.c_str(), X_OK) == 0) return beside;
  }
  return "nanwatchd";
}

// In a session of its own: a terminal's ^C ends the training, whose last words
// the daemon is to hear.
Result<pid_t> Spawn(const std::string& program, const std::string& folder,
                    const std::string& socket, const std::string& history,
                    const std::string& log) {
  const std::string lock = folder + "/nanwatchd.job";
  // Any port: another daemon, or another user's, may have the usual.
  std::vector<std::string> words = {program,    "--socket",    socket,
                                    "--listen", "127.0.0.1:0", "--while-locked",
                                    lock};
  if (!history.empty()) words.insert(words.end(), {"--history", history});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) {
    bool ours = true;
    for (const std::string_view name : kNotItsOwn) {
      ours &= !std::string_view(*each).starts_with(name);
    }
    if (ours) environment.push_back(*each);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, program.c_str(), &files, &how,
                                  arguments.data(), environment.data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return Error{program + ": " + std::strerror(failed)};
  return child;
}

}  // namespace

OwnDaemon::~OwnDaemon() {
  if (lock_ >= 0) close(lock_);
}

bool OwnDaemon::Hold(const std::string& folder) {
  if (lock_ < 0) lock_ = Lock(folder + "/nanwatchd.job", LOCK_SH);
  return lock_ >= 0;
}

Status OwnDaemon::Start(const std::string& folder, const std::string& socket,
                        const std::string& history) {
  const std::string program = DaemonProgram();
  log_ = folder + "/nanwatchd.log";
  const Result<pid_t> child = Spawn(program, folder, socket, history, log_);
  if (!child.ok()) return Error{child.error()};
  const auto end = steady_clock::now() + kStart;
  while (!Listens(socket)) {
    if (waitpid(*child, nullptr, WNOHANG) != 0) {
      return Error{fmt::format("{} ended; see {}", program, log_)};
    }
    if (steady_clock::now() >= end) {
      return Error{"nanwatchd did not listen in time"};
    }
    std::this_thread::sleep_for(kLook);
  }
  started_ = true;
  return OkStatus();
}

Result<std::string> OwnDaemon::StartIn(const std::string& folder) {
  const std::string socket = folder + "/ingest.sock";
  if (!Hold(folder)) return Error{folder + " cannot be written to"};
  const Status started = Start(folder, socket, folder + "/history.db");
  if (!started.ok()) return Error{started.error()};
  return std::string(kUnix) + socket;
}

std::string OwnDaemon::page() const {
  if (!started_) return "";
  // It listens first, and says where then.
  const auto end = steady_clock::now() + kStart;
  while (steady_clock::now() < end) {
    const std::string log = ReadHead(log_, kFirstBytes);
    const size_t at = log.find(kPage);
    const size_t line = log.find('\n', at);
    if (at != std::string::npos && line != std::string::npos) {
      const size_t begin = at + kPage.size();
      return log.substr(begin, line - begin);
    }
    std::this_thread::sleep_for(kLook);
  }
  return "";
}

Result<std::string> OwnDaemon::Ensure() {
  const std::vector<std::string> addresses =
      DaemonAddresses(ProcessEnvironment(), getuid());
  const std::string socket = addresses[0].substr(kUnix.size());
  for (size_t i = 1; i < addresses.size(); ++i) {
    if (Listens(addresses[i].substr(kUnix.size())) && !Listens(socket)) {
      return addresses[i];
    }
  }
  const std::string folder = ParentDirectory(socket);
  mkdir(folder.c_str(), 0700);
  if (!IsOwnFolder(folder)) {
    return Error{folder + " is not there, or not this user's own"};
  }
  const auto end = steady_clock::now() + kStart;
  while (steady_clock::now() < end) {
    // Not while a daemon ends: that one keeps the lock until it is gone.
    if (Hold(folder)) {
      if (Listens(socket)) return addresses[0];
      const int mine = Lock(folder + "/nanwatchd.start", LOCK_EX);
      if (mine >= 0) {
        const Status started =
            Listens(socket) ? OkStatus() : Start(folder, socket, "");
        close(mine);
        if (!started.ok()) return Error{started.error()};
        return addresses[0];
      }
    }
    std::this_thread::sleep_for(kLook);
  }
  return Error{"nanwatchd did not listen in time"};
}

}  // namespace nanwatch
