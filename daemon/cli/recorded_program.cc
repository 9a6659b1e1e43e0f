#include "cli/recorded_program.h"

#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "config/addresses.h"

namespace nanwatch {

RecordedProgram::RecordedProgram(std::vector<std::string> command,
                                 std::string address, const std::string& name)
    : command_(std::move(command)),
      address_(std::move(address)),
      name_(fmt::format("{}-{}-{}", name, std::time(nullptr),
                        static_cast<int>(getpid()))) {}

Status RecordedProgram::Begin() {
  if (address_.empty() && !ProcessEnvironment()("NANWATCH_ADDRESS").empty()) {
    address_ = FindDaemon();
  }
  if (!address_.empty()) return OkStatus();
  const Result<std::string> found = own_.Ensure();
  if (!found.ok()) return Error{found.error()};
  address_ = *found;
  return OkStatus();
}

// The wait status.
Result<int> RecordedProgram::Start(const Variables& variables) const {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  std::vector<std::string> words = command_;
  std::vector<std::string> environment = EnvironmentWith(variables);
  pid_t child = -1;
  const int failed =
      posix_spawnp(&child, words[0].c_str(), &files, nullptr,
                   Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return Error{
        fmt::format("{}: {}", Clean(command_[0]), std::strerror(failed))};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

Result<ComparedSide> RecordedProgram::Run(const std::string& part,
                                          std::optional<int64_t> steps,
                                          const Variables& variables) {
  const std::string run = name_ + "-" + part;
  Variables all = {{"NANWATCH_ADDRESS", address_}, {"NANWATCH_RUN_ID", run}};
  if (steps != 0) all.emplace_back("NANWATCH_LEVEL", "compare");
  if (steps) all.emplace_back("NANWATCH_STOP_AFTER", std::to_string(*steps));
  all.insert(all.end(), variables.begin(), variables.end());
  const Result<int> status = Start(all);
  if (!status.ok()) return Error{status.error()};
  if (*status != 0) {
    const bool exited = WIFEXITED(*status);
    return Error{
        fmt::format("{} ended with {} {}, so nothing is judged",
                    Clean(command_[0]), exited ? "status" : "signal",
                    exited ? WEXITSTATUS(*status) : WTERMSIG(*status))};
  }
  Result<ComparedSide> side =
      steps == 0 ? ReadOpening(run, address_) : ReadSide(run, address_, {});
  if (!side.ok()) {
    return Error{
        fmt::format("{} told the daemon nothing: it must call "
                    "nanwatch.torch.watch, or the watch of its framework, and "
                    "watch.step at each step ({})",
                    Clean(command_[0]), side.error())};
  }
  return side;
}

}  // namespace nanwatch
