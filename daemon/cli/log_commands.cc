// The commands that read other programs' logs, as the command line knows them.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "logs/column_names.h"

namespace nanwatch {
namespace {

// What a log's commands have in common.
struct LogArguments {
  std::vector<std::string> paths;
  std::string format;
  std::vector<std::string> map;
};

struct CheckArguments : LogArguments {
  CheckOptions options;
  bool list = false;
};

struct TailArguments : LogArguments {
  TailOptions options;
  int32_t rank = -1;
  double idle_flush = 5;  // seconds
};

struct RunArguments : LogArguments {
  RunOptions options;
};

// Format and columns, as they were written, into the command's options.
template <typename Options>
Status Resolve(const LogArguments& arguments, Options* options) {
  const Result<ColumnMap> map = ParseColumnMap(arguments.map);
  if (!map.ok()) return Error{map.error()};
  options->columns = *map;
  if (arguments.format.empty()) return OkStatus();
  options->format = FindLogFormat(arguments.format);
  if (options->format != nullptr) return OkStatus();
  return Error{"there is no log format " + arguments.format +
               "; `nanwatch check --list-formats` lists them"};
}

int Check(CheckArguments& arguments) {
  if (arguments.list) return ListFormats();
  if (arguments.paths.empty()) {
    return Fail("check needs the path of a log (- reads standard input)",
                kExitUsage);
  }
  const Status resolved = Resolve(arguments, &arguments.options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  return CheckLogs(arguments.paths, arguments.options, Style::OfTerminal());
}

int Tail(TailArguments& arguments) {
  TailOptions& options = arguments.options;
  const Status resolved = Resolve(arguments, &options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  if (arguments.rank >= 0) options.rank = arguments.rank;
  options.idle_flush = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(arguments.idle_flush));
  return TailLogs(arguments.paths, options);
}

int Run(RunArguments& arguments) {
  const Status resolved = Resolve(arguments, &arguments.options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  return RunTraining(arguments.options);
}

void AddShared(CLI::App* command, LogArguments* arguments) {
  command->add_option("--format", arguments->format,
                      "the program that printed it; default: found out");
  command
      ->add_option("--map", arguments->map,
                   "FIELD=COLUMN,...: where numbers are in logs of no known "
                   "program, e.g. loss=train/loss,scale=amp/scale; other "
                   "fields are found by their usual names. Fields: " +
                       ColumnFieldNames())
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows is a log
}

void AddCheck(CLI::App& app, std::function<int()>* action) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check = app.add_subcommand(
      "check",
      "judge finished training logs of other programs; no daemon needed. Exit "
      "status 0 nothing above info, 1 warning, 2 critical, 3 nothing usable");
  check->add_option("log", arguments->paths,
                    "the logs: plain, .gz or .zst; - reads standard input");
  AddShared(check, arguments.get());
  check->add_flag("--list-formats", arguments->list, "the programs known");
  check->add_flag("--json", arguments->options.json, "one JSON object a log");
  check->callback([=] { *action = [=] { return Check(*arguments); }; });
}

void AddTail(CLI::App& app, std::function<int()>* action) {
  const auto arguments = std::make_shared<TailArguments>();
  TailOptions& options = arguments->options;
  CLI::App* tail = app.add_subcommand(
      "tail",
      "judge the logs of other programs while they grow, and tell the daemon "
      "if one runs: `train.py 2>&1 | nanwatch tail --tee -`. Incidents go to "
      "standard output, with --tee to standard error. Ends with the pipe or "
      "with ^C; exit status as check's");
  tail->add_option("log", arguments->paths,
                   "the logs of one run, a rank each by their names or in this "
                   "order; - reads standard input")
      ->required();
  tail->add_flag("--tee", options.tee,
                 "pass what is read on to standard output, as it is");
  AddShared(tail, arguments.get());
  CLI::Option* new_only = tail->add_flag(
      "--new-only", options.new_only,
      "pass over what stands in the files already; default: --from-start");
  tail->add_flag("--from-start")->excludes(new_only);
  tail->add_option("--run", options.run_id,
                   "the run's name for the daemon; default: NANWATCH_RUN_ID or "
                   "the launcher's, else a new one");
  tail->add_option("--rank", arguments->rank,
                   "of one log; default: by its name (rank_3), in a pipe the "
                   "launcher's")
      ->check(CLI::Range(0, 1 << 20));
  tail->add_flag("--json", options.json, "what is told as JSON lines");
  tail->add_flag("!--no-daemon", options.daemon, "tell no daemon");
  tail->add_option("--idle-flush", arguments->idle_flush,
                   "seconds of silence after which what waits is judged: a "
                   "line without its end, overflows before their step line; "
                   "default: 5")
      ->check(CLI::Range(0.1, 86400.0));
  tail->callback([=, &app] {
    arguments->options.address = app["--address"]->as<std::string>();
    *action = [=] { return Tail(*arguments); };
  });
}

void AddRun(CLI::App& app, std::function<int()>* action) {
  const auto arguments = std::make_shared<RunArguments>();
  RunOptions& options = arguments->options;
  CLI::App* run = app.add_subcommand(
      "run",
      "run a training and judge it: `nanwatch run -- python train.py`. Starts "
      "a daemon where none runs, follows what is printed, lets the training's "
      "hooks find the daemon, and says the verdict on standard error at the "
      "end. Output, signals and exit status are the training's own");
  run->add_option("command", options.command, "the program and its arguments")
      ->required();
  AddShared(run, arguments.get());
  run->add_option("--run", options.run_id,
                  "the run's name; default: NANWATCH_RUN_ID or the launcher's, "
                  "else a new one");
  run->add_flag("!--no-daemon", options.daemon,
                "judge only what is printed, tell no daemon");
  run->callback([=, &app] {
    arguments->options.address = app["--address"]->as<std::string>();
    *action = [=] { return Run(*arguments); };
  });
}

}  // namespace

void AddLogCommands(CLI::App& app, std::function<int()>* action) {
  AddCheck(app, action);
  AddTail(app, action);
  AddRun(app, action);
}

}  // namespace nanwatch
