#include "cli/launched.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace nanwatch {
namespace {

// Of a pipe in the kernel: room for a training that prints while this program
// does not run.
constexpr int kChildPipeBytes = 1024 * 1024;

}  // namespace

Launched::Launched() {
  signal(SIGCHLD, SIG_DFL);  // an ignored one would take the exit status
  sigemptyset(&held_);
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
    struct sigaction now;
    // nohup, a shell's background: the program ignores them, too.
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&held_, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
  signals_ = signalfd(-1, &held_, SFD_CLOEXEC);
}

Launched::~Launched() {
  if (signals_ >= 0) close(signals_);
}

int Launched::Start(const std::vector<std::string>& command,
                    const Variables& variables) {
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return errno;
  if (pipe2(err, O_CLOEXEC) != 0) return errno;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err[1], STDERR_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setsigmask(&how, &before_);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = command;
  std::vector<std::string> environment = EnvironmentWith(variables);
  const int failed =
      posix_spawnp(&child_, words[0].c_str(), &files, &how,
                   Pointers(words).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
  for (const int end : {out_, err_}) fcntl(end, F_SETPIPE_SZ, kChildPipeBytes);
  return failed;
}

int Launched::Wait() {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == child_ || (ended < 0 && errno != EINTR)) {
      // ^C at the terminal came to both; that one has been obeyed.
      const timespec at_once{};
      while (sigtimedwait(&held_, nullptr, &at_once) > 0) {
      }
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
      return status;
    }
    signalfd_siginfo came;
    if (read(signals_, &came, sizeof came) != sizeof came) continue;
    if (came.ssi_signo == SIGCHLD || came.ssi_code == SI_KERNEL) continue;
    kill(child_, static_cast<int>(came.ssi_signo));
  }
}

int Launched::EndAlike(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  const rlimit no_core{};  // the program's own is the one to look at
  setrlimit(RLIMIT_CORE, &no_core);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(number);
  return 128 + number;
}

}  // namespace nanwatch
