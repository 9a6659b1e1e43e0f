#include "cli/simulate.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/recording.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

std::string AllNames() {
  std::string names = "none";
  for (const ScalerSpec& spec : AllScalers()) {
    if (!FollowsStatistics(spec.growth)) {
      names += ", " + std::string(spec.name);
    }
  }
  return names;
}

ScalerChoice Fixed(double scale, bool skips, std::string title) {
  ScalerChoice choice;
  choice.scaler.parameters.growth = Growth::kNever;
  choice.scaler.parameters.init = scale;
  choice.scaler.skips = skips;
  choice.title = std::move(title);
  return choice;
}

// The run's own scaler and numbers, with those of `set` over them.
ScalerDeclaration Over(ScalerDeclaration own, const ScalerDeclaration& set) {
  const auto put = [](const auto& from, auto* to) {
    if (from) *to = from;
  };
  put(set.init_scale, &own.init_scale);
  put(set.growth_factor, &own.growth_factor);
  put(set.backoff_factor, &own.backoff_factor);
  put(set.growth_interval, &own.growth_interval);
  put(set.hysteresis, &own.hysteresis);
  put(set.min_scale, &own.min_scale);
  put(set.max_scale, &own.max_scale);
  return own;
}

Status CheckParameters(const ScalerParameters& p, const std::string& title) {
  if (FollowsStatistics(p.growth)) {
    return Error{title +
                 " follows statistics of the gradients, which were not "
                 "recorded: it cannot be simulated"};
  }
  if (p.growth == Growth::kNever) return OkStatus();
  if (p.growth_interval <= 0) {
    return Error{title +
                 " has no growth interval of its own: name one with "
                 "--growth-interval"};
  }
  if (p.ceiling > 0 && p.floor > p.ceiling) {
    return Error{"--min-scale is above --max-scale"};
  }
  if (p.init < p.floor || (p.ceiling > 0 && p.init > p.ceiling)) {
    return Error{fmt::format(
        "the first scale, {}, is not between the floor and the ceiling: set "
        "--init",
        InWords(p.init))};
  }
  return OkStatus();
}

Result<RecordingNote> ReadRecorded(
    const SimulateOptions& options,
    const std::function<void(const Event&)>& take) {
  if (options.recording != "-" && !FileExists(options.recording)) {
    return ReadDaemonsRun(options.address,
                          {options.recording, options.run.attempt}, take);
  }
  return ReadRecording(options.recording, options.log,
                       {.run = options.run, .one = true},
                       [&](Time, const Event& event) { take(event); });
}

// The newest attempt with a scale, or the one that was asked for.
Result<RecordedRun> OneOf(std::vector<RecordedRun> runs,
                          const std::optional<int32_t>& attempt) {
  RecordedRun* found = nullptr;
  for (RecordedRun& run : runs) {
    if (attempt && run.key.attempt != *attempt) continue;
    if (found == nullptr || attempt || !run.updates.empty()) found = &run;
  }
  if (found == nullptr) return Error{"there is no such attempt of the run"};
  if (found->updates.empty()) {
    return Error{fmt::format(
        "{}: no record has a loss scale, so there is nothing to compare with",
        Clean(found->key.run_id))};
  }
  return std::move(*found);
}

}  // namespace

Status ReadForSimulation(const SimulateOptions& options,
                         const std::function<void(const Event&)>& take) {
  const Result<RecordingNote> note = ReadRecorded(options, take);
  return note.ok() ? OkStatus() : Status(Error{note.error()});
}

Result<ScalerChoice> ChooseScaler(const SimulateOptions& options,
                                  const RecordedRun& run) {
  if (options.fixed) {
    return Fixed(*options.fixed, true,
                 fmt::format("a fixed scale of {}", InWords(*options.fixed)));
  }
  if (options.scaler == "none") return Fixed(1, false, "no loss scaling");
  ScalerChoice choice;
  ScalerDeclaration declaration = options.numbers;
  if (options.scaler.empty()) {
    choice.spec = run.scaler;
    declaration = Over(run.description.scaler, options.numbers);
    choice.title = run.scaler != nullptr ? std::string(run.scaler->title)
                                         : "the run's own scaler";
    if (run.scaler == nullptr && !declaration.growth_interval) {
      return Error{"the run's scaler is not known: name one with --scaler (" +
                   AllNames() +
                   "), or --growth-interval, or a scale with --fixed"};
    }
  } else {
    choice.spec = FindScaler(options.scaler);
    if (choice.spec == nullptr) {
      return Error{fmt::format("there is no scaler {}: {}",
                               Clean(options.scaler), AllNames())};
    }
    choice.title = choice.spec->title;
  }
  ScalerParameters& p = choice.scaler.parameters;
  p = Resolve(choice.spec, declaration);
  // The run's own began where it began.
  const bool own = options.scaler.empty() && !declaration.init_scale;
  if (own || p.init == 0) {
    p.init = run.updates.front().scale;
    choice.init_recorded = true;
  }
  const Status checked = CheckParameters(p, choice.title);
  if (!checked.ok()) return Error{checked.error()};
  return choice;
}

int SimulateRun(const SimulateOptions& options, const Style& style) {
  UpdateRecorder recorder;
  const Result<RecordingNote> note =
      ReadRecorded(options, [&](const Event& event) { recorder.Take(event); });
  if (!note.ok()) return Fail(note.error());
  const Result<RecordedRun> run = OneOf(recorder.Finish(), options.run.attempt);
  if (!run.ok()) return Fail(run.error());
  const Result<ScalerChoice> choice = ChooseScaler(options, *run);
  if (!choice.ok()) return Fail(choice.error(), kExitUsage);

  const OverflowKnowledge knowledge(run->updates);
  const auto simulate = [&](Unknown unknown) {
    return Simulate(run->updates, knowledge, choice->scaler, unknown);
  };
  SimulationReport report;
  report.run = &*run;
  report.choice = *choice;
  report.recorded = Recorded(run->updates, run->parameters.floor);
  report.simulated = simulate(Unknown::kAssume);
  report.at_best = simulate(Unknown::kNeverOverflow);
  report.at_worst = simulate(Unknown::kAlwaysOverflow);
  report.complaint = note->complaint;
  const std::string text =
      options.json ? SimulationJson(report) : SimulationText(report, style);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace nanwatch
