// probe: a program that opens a session and then does what programs do to
// libraries. Says nothing; whatever is printed comes from the library.
//
//   probe MODE ADDRESS

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nanwatch.hpp>
#include <string>

namespace {

constexpr int kFlushMs = 10'000;

// What a forked child must be able to do with its parent's session.
void UseAll(nanwatch::Run* run) {
  for (int i = 100; i < 200; ++i) run->Push(nanwatch::Step(i).Loss(0));
  nanwatch::Op op;
  op.name = "child";
  run->Register(op);
  run->Poll();
  run->Flush(1000);
  run->Stats();
}

int Wait(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int Fork(const nanwatch::RunOptions& options, bool leaves_by_exit) {
  nanwatch::Run run(options);
  run.Push(nanwatch::Step(0).Loss(1));
  if (!run.Flush(kFlushMs)) return 2;
  const pid_t child = fork();
  if (child == 0) {
    UseAll(&run);
    nanwatch::Run second(options);
    UseAll(&second);
    const bool silent = second.get() == nullptr;
    if (leaves_by_exit) exit(silent ? 0 : 3);
    run.Close(1000);
    _exit(silent ? 0 : 3);
  }
  const int status = Wait(child);
  run.Push(nanwatch::Step(1).Loss(1));
  return run.Close(kFlushMs) ? status : 4;
}

int ForkFirst(const nanwatch::RunOptions& options) {
  const pid_t child = fork();
  if (child == 0) {
    nanwatch::Run run(options);
    run.Push(nanwatch::Step(0).Loss(1));
    _exit(run.Close(kFlushMs) ? 0 : 5);
  }
  return Wait(child);
}

}  // namespace

// A forked child cannot free what its parent's sender holds: not a leak.
extern "C" int __lsan_is_turned_off() { return 1; }

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const std::string mode = argv[1];
  nanwatch::RunOptions options;
  options.address = argv[2];
  options.run_id = "probe";
  if (mode == "fork") return Fork(options, false);
  if (mode == "fork-exit") return Fork(options, true);
  if (mode == "fork-first") return ForkFirst(options);
  if (mode == "exit") {
    nanwatch_session* session = nanwatch_open(&options);
    const nanwatch::Step step(7);
    nanwatch_push_step(session, &step);
    exit(0);
  }
  return 64;
}
