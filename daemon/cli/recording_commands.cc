// The commands that ask "what if" of a recording, as the command line knows
// them.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/backtest.h"
#include "cli/commands.h"
#include "cli/number_checks.h"
#include "cli/simulate.h"
#include "logs/column_names.h"

namespace nanwatch {
namespace {

// How a recording that is a log is read.
struct LogFlags {
  std::string format;
  std::vector<std::string> map;
};

void AddLogFlags(CLI::App* verb, LogFlags* flags) {
  verb->add_option("--format", flags->format,
                   "of a log: the program that printed it; default: found out");
  verb->add_option("--map", flags->map,
                   "of a log: FIELD=COLUMN,..., as for `nanwatch check`")
      ->delimiter(',')
      ->allow_extra_args(false);
}

Status Resolve(const LogFlags& flags, CheckOptions* log) {
  const Result<ColumnMap> map = ParseColumnMap(flags.map);
  if (!map.ok()) return Error{map.error()};
  log->columns = *map;
  if (flags.format.empty()) return OkStatus();
  log->format = FindLogFormat(flags.format);
  if (log->format != nullptr) return OkStatus();
  return Error{"there is no log format " + flags.format +
               "; `nanwatch check --list-formats` lists them"};
}

void AddBacktest(CLI::App& app, std::function<int()>* action) {
  struct Arguments : LogFlags {
    BacktestOptions options;
  };
  const auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "backtest",
      "what other thresholds would have said: which incidents appear, vanish, "
      "come earlier or later, beside those of the recorded thresholds (of a "
      "log: the defaults), both judged by this nanwatch");
  verb->add_option("recording", a->options.recordings,
                   "histories, exports or logs (- reads a log from standard "
                   "input)")
      ->required();
  verb->add_option("--rules", a->options.rules,
                   "a configuration, as nanwatchd's: its section `rules` over "
                   "the defaults")
      ->required()
      ->check(CLI::ExistingFile);
  verb->add_option("--healthy", a->options.healthy,
                   "a run (or recording) that was healthy, so that every "
                   "warning in it is a false alarm; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag("--all-healthy", a->options.all_healthy, "all of them were");
  verb->add_flag("--all", a->options.all,
                 "list the same incidents too, and those for information");
  verb->add_flag("--json", a->options.json, "as JSON");
  AddLogFlags(verb, a.get());
  verb->callback([=] {
    *action = [=] {
      const Status resolved = Resolve(*a, &a->options.log);
      if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
      return BacktestRules(a->options, Style::OfTerminal());
    };
  });
}

// Of a scaler that moves; `fixed` is the option of one that does not.
void AddNumbers(CLI::App* verb, CLI::Option* fixed,
                ScalerDeclaration* numbers) {
  const auto add = [&](const char* flag, auto* number, const char* help,
                       const CLI::Validator& check) {
    verb->add_option(flag, *number, help)->check(check)->excludes(fixed);
  };
  add("--init", &numbers->init_scale, "the first scale", PositiveNumber());
  add("--growth-factor", &numbers->growth_factor, "by which the scale grows",
      CLI::Range(1.0, 65536.0));
  add("--growth-interval", &numbers->growth_interval,
      "good attempts in a row before it grows", PositiveNumber());
  add("--backoff-factor", &numbers->backoff_factor,
      "by which an overflow lowers it, below 1", CLI::Range(1e-6, 0.999999));
  add("--hysteresis", &numbers->hysteresis, "overflows until it falls",
      PositiveNumber());
  add("--min-scale", &numbers->min_scale, "the floor", PositiveNumber());
  add("--max-scale", &numbers->max_scale, "the ceiling", PositiveNumber());
}

void AddSimulate(CLI::App& app, const std::string* address,
                 std::function<int()>* action) {
  struct Arguments : LogFlags {
    SimulateOptions options;
    int attempt = -1;
  };
  const auto a = std::make_shared<Arguments>();
  SimulateOptions& options = a->options;
  CLI::App* verb = app.add_subcommand(
      "simulate",
      "what another loss scaler would have done: skipped updates, scales and "
      "lost gradients beside the recorded ones, and what had to be assumed");
  verb->add_option("recording", options.recording,
                   "a history, an export, a log (- reads it from standard "
                   "input), or a run that the daemon knows")
      ->required();
  verb->add_option("--run", options.run.run_id,
                   "which, of a history with several");
  verb->add_option("--attempt", a->attempt, "default: the newest")
      ->check(WholeNumber());
  CLI::Option* scaler = verb->add_option(
      "--scaler", options.scaler,
      "pytorch, megatron, deepspeed, ascend_tf, ..., with its defaults, or "
      "none; default: the run's own, as it was declared or recognised");
  CLI::Option* fixed =
      verb->add_option("--fixed", options.fixed, "a scale that never changes")
          ->check(PositiveNumber())
          ->excludes(scaler);
  AddNumbers(verb, fixed, &options.numbers);
  verb->add_flag("--json", options.json, "as JSON");
  AddLogFlags(verb, a.get());
  verb->callback([=] {
    *action = [=] {
      const Status resolved = Resolve(*a, &a->options.log);
      if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
      if (a->attempt >= 0) a->options.run.attempt = a->attempt;
      a->options.address = *address;
      return SimulateRun(a->options, Style::OfTerminal());
    };
  });
}

}  // namespace

void AddRecordingCommands(CLI::App& app, const std::string* address,
                          std::function<int()>* action) {
  AddBacktest(app, action);
  AddSimulate(app, address, action);
}

}  // namespace nanwatch
