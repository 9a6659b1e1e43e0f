// The commands that read other programs' logs, as the command line knows them.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/dump_files.h"
#include "cli/dump_side.h"
#include "cli/log_flags.h"
#include "cli/number_checks.h"
#include "cli/option.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

struct LogArguments : LogFlags {
  std::vector<std::string> paths;
};

struct CheckArguments : LogArguments {
  CheckOptions options;
  std::string against;
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

int RunCheck(CheckArguments& arguments, const std::string& address) {
  if (arguments.list) return ListFormats();
  if (arguments.paths.empty()) {
    return Fail("check needs the path of a log (- reads standard input)",
                kExitUsage);
  }
  const Status resolved = arguments.Resolve(&arguments.options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  if (!arguments.against.empty() && IsDump(arguments.against)) {
    const auto dumped = ReadDump(arguments.against);
    if (!dumped.ok()) return Fail(dumped.error());
    arguments.options.benchmark_dump =
        std::make_shared<const ComparedRun>(dumped->run);
  } else if (!arguments.against.empty()) {
    const auto benchmark =
        ReadBenchmark(arguments.against, address, arguments.options);
    if (!benchmark.ok()) return Fail(benchmark.error());
    arguments.options.benchmark = *benchmark;
  }
  return CheckLogs(arguments.paths, arguments.options, Style::OfTerminal());
}

int Tail(TailArguments& arguments) {
  TailOptions& options = arguments.options;
  const Status resolved = arguments.Resolve(&options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  if (arguments.rank >= 0) options.rank = arguments.rank;
  options.idle_flush = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(arguments.idle_flush));
  return TailLogs(arguments.paths, options);
}

int Run(RunArguments& arguments) {
  const Status resolved = arguments.Resolve(&arguments.options);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  return RunTraining(arguments.options);
}

Command CheckCommand(const std::string* address) {
  const auto a = std::make_shared<CheckArguments>();
  return {.name = "check",
          .help =
              "judge finished training logs of other programs, or what other "
              "tools dumped of one; no daemon needed. Exit status 0 nothing "
              "above info; 1 a warning, or UNREAD or UNCLEAR: too little was "
              "read or is shown to judge; 2 critical; 3 nothing usable; of "
              "several logs the worst",
          .options = Joined(
              {{"log", &a->paths,
                "the logs: plain, .gz or .zst; - reads standard input; or "
                "folders and files of a dump"}},
              a->Options(),
              {{"--list-formats", &a->list, "the programs known"},
               {"--against", &a->against,
                "a run or a log whose losses those of the logs are held "
                "against, named as for `compare`"},
               {"--json", &a->options.json, "one JSON object a log"},
               {.names = "--all",
                .target = &a->options.all,
                .help = "all that is found, not one screen a log",
                .excludes = "--json"}}),
          .run = [=] { return RunCheck(*a, DaemonAddress(*address)); }};
}

Command TailCommand(const std::string* address) {
  const auto a = std::make_shared<TailArguments>();
  TailOptions& options = a->options;
  return {
      .name = "tail",
      .help =
          "judge the logs of other programs while they grow, and tell the "
          "daemon if one runs: `train.py 2>&1 | nanwatch tail --tee -`. "
          "Incidents go to standard output, with --tee to standard error. "
          "Ends with the pipe or with ^C; exit status as check's",
      .options = Joined(
          {{.names = "log",
            .target = &a->paths,
            .help = "the logs of one run, a rank each by their names or in "
                    "this order; - reads standard input",
            .required = true},
           {"--tee", &options.tee,
            "pass what is read on to standard output, as it is"}},
          a->Options(),
          {{"--new-only", &options.new_only,
            "pass over what stands in the files already; default: "
            "--from-start"},
           {.names = "--from-start",
            .help = "judge what stands in the files already, too",
            .excludes = "--new-only"},
           {"--run", &options.run_id,
            "the run's name for the daemon; default: NANWATCH_RUN_ID or the "
            "launcher's, else a new one"},
           {.names = "--rank",
            .target = &a->rank,
            .help = "of one log; default: by its name (rank_3), in a pipe the "
                    "launcher's",
            .check = Between(0, 1 << 20)},
           {"--json", &options.json, "the output as JSON lines"},
           {"!--no-daemon", &options.daemon, "tell no daemon"},
           {.names = "--idle-flush",
            .target = &a->idle_flush,
            .help = "seconds of silence after which what waits is judged: a "
                    "line without its end, overflows before their step line; "
                    "default: 5",
            .check = Between(0.1, 86400.0)}}),
      .run = [=] {
        a->options.address = *address;
        return Tail(*a);
      }};
}

Command RunCommand(const std::string* address) {
  const auto a = std::make_shared<RunArguments>();
  RunOptions& options = a->options;
  return {
      .name = "run",
      .help =
          "run a training and judge it: `nanwatch run -- python "
          "train.py`. Starts a daemon where none runs, follows what is "
          "printed, lets the training's hooks find the daemon, and says "
          "the verdict on standard error at the end. Output, signals and "
          "exit status are the training's own",
      .options = Joined(
          {{.names = "command",
            .target = &options.command,
            .help = "the program and its arguments",
            .required = true}},
          a->Options(),
          {{"--run", &options.run_id,
            "the run's name; default: NANWATCH_RUN_ID or the launcher's, else "
            "a new one"},
           {"!--no-daemon", &options.daemon,
            "judge only what is printed, tell no daemon"}}),
      .run = [=] {
        a->options.address = *address;
        return Run(*a);
      }};
}

}  // namespace

std::vector<Command> LogCommands(const std::string* address) {
  return {CheckCommand(address), TailCommand(address), RunCommand(address)};
}

}  // namespace nanwatch
