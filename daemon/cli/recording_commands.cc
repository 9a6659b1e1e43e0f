// The commands that ask "what if" of a recording, as the command line knows
// them.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/backtest.h"
#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/fusion.h"
#include "cli/log_flags.h"
#include "cli/number_checks.h"
#include "cli/option.h"
#include "cli/precheck.h"
#include "cli/simulate.h"
#include "cli/text_checks.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

Command BacktestCommand() {
  struct Arguments : LogFlags {
    BacktestOptions options;
  };
  const auto a = std::make_shared<Arguments>();
  BacktestOptions& options = a->options;
  return {
      .name = "backtest",
      .help =
          "what other thresholds would have said: which incidents appear, "
          "vanish, come earlier or later, beside those of the recorded "
          "thresholds (of a log: the defaults), both judged by this "
          "nanwatch",
      .options = Joined(
          {{.names = "recording",
            .target = &options.recordings,
            .help = "histories, exports or logs (- reads a log from standard "
                    "input)",
            .required = true},
           {.names = "--rules",
            .target = &options.rules,
            .help = "a configuration, as nanwatchd's: its section `rules` "
                    "over the defaults",
            .required = true,
            .check = ExistingFile()},
           {"--healthy", &options.healthy,
            "a run (or recording) that was healthy, so that every warning in "
            "it is a false alarm; may be repeated"},
           {"--all-healthy", &options.all_healthy, "all of them were"},
           {"--all", &options.all,
            "list the same incidents too, and those for information"},
           {"--json", &options.json, "as JSON"}},
          a->OptionsOfALog()),
      .run = [=] {
        const Status resolved = a->Resolve(&a->options.log);
        if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
        return BacktestRules(a->options, Style::OfTerminal());
      }};
}

// Of a scaler that moves; `--fixed` is of one that does not.
std::vector<Option> MovingScaler(ScalerDeclaration* numbers) {
  const auto number = [](const char* name, OptionTarget target,
                         const char* help, OptionCheck check) -> Option {
    return {.names = name,
            .target = target,
            .help = help,
            .check = std::move(check),
            .excludes = "--fixed"};
  };
  return {
      number("--init", &numbers->init_scale, "the first scale",
             PositiveNumber()),
      number("--growth-factor", &numbers->growth_factor,
             "by which the scale grows", Between(1.0, 65536.0)),
      number("--growth-interval", &numbers->growth_interval,
             "good updates in a row before it grows", PositiveNumber()),
      number("--backoff-factor", &numbers->backoff_factor,
             "by which an overflow lowers it, below 1",
             Between(1e-6, 0.999999)),
      number("--hysteresis", &numbers->hysteresis, "overflows until it falls",
             PositiveNumber()),
      number("--min-scale", &numbers->min_scale, "the floor", PositiveNumber()),
      number("--max-scale", &numbers->max_scale, "the ceiling",
             PositiveNumber())};
}

Command SimulateCommand(const std::string* address) {
  struct Arguments : LogFlags {
    SimulateOptions options;
    int32_t attempt = -1;
  };
  const auto a = std::make_shared<Arguments>();
  SimulateOptions& options = a->options;
  std::vector<Option> flags = a->OptionsOfALog();
  flags.insert(flags.begin(), {"--json", &options.json, "as JSON"});
  return {
      .name = "simulate",
      .help =
          "what another loss scaler would have done: skipped updates, "
          "scales and lost gradients beside the recorded ones, and what "
          "had to be assumed",
      .options = Joined(
          {{.names = "recording",
            .target = &options.recording,
            .help = "a history, an export, a log (- reads it from standard "
                    "input), or a run that the daemon knows",
            .required = true},
           {"--run", &options.run.run_id, "which, of a history with several"},
           {.names = "--attempt",
            .target = &a->attempt,
            .help = "default: the newest",
            .check = WholeNumber()},
           {"--scaler", &options.scaler,
            "pytorch, megatron, deepspeed, ascend_tf, ..., with its defaults, "
            "or none; default: the run's own, as it was declared or "
            "recognised"},
           {"--layerwise", &options.layerwise,
            "scales a layer: AdaLoss, a few fixed ones, delayed scaling, on "
            "recorded gradients"},
           {.names = "--fixed",
            .target = &options.fixed,
            .help = "a scale that never changes",
            .check = PositiveNumber(),
            .excludes = "--scaler"}},
          MovingScaler(&options.numbers), flags),
      .run = [=] {
        const Status resolved = a->Resolve(&a->options.log);
        if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
        if (a->attempt >= 0) a->options.run.attempt = a->attempt;
        a->options.address = DaemonAddress(*address);
        return a->options.layerwise
                   ? SimulateRunsLayers(a->options, Style::OfTerminal())
                   : SimulateRun(a->options, Style::OfTerminal());
      }};
}

}  // namespace

std::vector<Command> RecordingCommands(const std::string* address) {
  return {BacktestCommand(),        SimulateCommand(address),
          CompareCommand(address),  RepeatCommand(address),
          PrecheckCommand(address), BenchCommand(address),
          FusionCommand(address)};
}

}  // namespace nanwatch
