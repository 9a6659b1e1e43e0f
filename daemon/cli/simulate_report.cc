// What `simulate` says: a table, the assumptions in sentences, and both as
// JSON.

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/simulate.h"
#include "diagnose/words.h"
#include "json/value.h"

namespace nanwatch {
namespace {

using Json = nlohmann::ordered_json;

uint64_t AssumedOf(const ScalerOutcome& outcome) {
  return outcome.higher.updates + outcome.lower.updates;
}

std::string Updates(uint64_t n) {
  return fmt::format("{} update{}", Grouped(n), n == 1 ? "" : "s");
}

// "starts at 65536, x 2 after 2000 good updates, x 0.5 at every overflow".
std::string ScalerInWords(const SimulatedScaler& scaler) {
  const ScalerParameters& p = scaler.parameters;
  if (p.growth == Growth::kNever) {
    return fmt::format("the scale is {}{}", InWords(p.init),
                       scaler.skips ? ", updates that overflow are skipped"
                                    : ", and nothing looks for overflows");
  }
  std::string out =
      fmt::format("starts at {}, x {} after {} good updates in a row",
                  InWords(p.init), InWords(p.growth_factor), p.growth_interval);
  out += fmt::format(", x {} at ", InWords(p.backoff_factor));
  switch (p.hysteresis) {
    case Hysteresis::kNone:
      out += "every overflow";
      break;
    case Hysteresis::kUntilGrowth:
      out += fmt::format("overflows after the first {} since a growth",
                         p.hysteresis_count - 1);
      break;
    case Hysteresis::kConsecutive:
      out += fmt::format("overflows after the first {} in a row",
                         p.hysteresis_count - 1);
      break;
    case Hysteresis::kCumulative:
      out += fmt::format("each {}. overflow", p.hysteresis_count);
      break;
  }
  if (p.floor > 0) out += fmt::format(", not below {}", InWords(p.floor));
  if (p.ceiling > 0) out += fmt::format(", not above {}", InWords(p.ceiling));
  return out;
}

// How the updates of one kind were judged.
std::string HowAssumed(const Assumed& a) {
  const uint64_t told = a.updates - a.untold - a.stuck;
  const uint64_t overflows = a.overflows - a.untold - a.stuck;
  const bool one = a.updates == 1;
  std::string out;
  if (told > 0 && one) {
    out = fmt::format(
        " It was judged as the nearest update that tells, before or after: it "
        "{}.",
        overflows > 0 ? "overflows" : "does not overflow");
  } else if (told > 0) {
    const std::string how =
        overflows == 0 ? "none overflows"
        : overflows == told
            ? "all overflow"
            : fmt::format("{} overflow, {} do not", Grouped(overflows),
                          Grouped(told - overflows));
    out = fmt::format(
        " {} judged as the nearest update that tells, before or after: {}.",
        told == 1 ? "One was" : Grouped(told) + " were", how);
  }
  if (a.stuck > 0) {
    out += fmt::format(
        " {} taken to overflow, since overflow followed overflow at a scale "
        "where a lower one does not help.",
        one            ? "It is"
        : a.stuck == 1 ? "One is"
                       : Grouped(a.stuck) + " are");
  }
  if (a.untold > 0) {
    out += one ? " No update tells of it: it is taken to overflow."
               : fmt::format(
                     " Of {} no update tells: these are taken to overflow.",
                     Grouped(a.untold));
  }
  return out;
}

void AddOfScaler(const SimulationReport& report,
                 std::vector<std::string>* out) {
  const ScalerChoice& choice = report.choice;
  if (choice.init_recorded) {
    out->push_back(fmt::format("It starts at {}, the first scale recorded.",
                               InWords(choice.scaler.parameters.init)));
  }
  if (!choice.scaler.skips && report.simulated.overflows > 0) {
    out->push_back(
        "Without a scaler nothing looks for overflows: these updates would "
        "have been applied, with infinities in them.");
  }
  const int64_t step = report.simulated.floor_overflow_step;
  if (choice.spec != nullptr && choice.spec->at_floor == AtFloor::kRaises &&
      step >= 0) {
    out->push_back(fmt::format(
        "This scaler raises an exception when it overflows at its floor: the "
        "training would have ended at step {}. What follows counts as if it "
        "had not.",
        step));
  }
}

void AddOfRecording(const SimulationReport& report,
                    std::vector<std::string>* out) {
  const RecordedRun& run = *report.run;
  if (!run.order_shown && report.recorded.overflows > 0) {
    out->push_back(
        "A record's scale is taken for the one that its update used: no fall "
        "of the scale shows whether it is.");
  }
  if (run.without_scale > 0) {
    out->push_back(
        fmt::format("{} before the first recorded scale are left out.",
                    Updates(run.without_scale)));
  }
  if (run.optimizers > 1) {
    out->push_back(fmt::format("Of {} optimizers only {} is looked at.",
                               run.optimizers,
                               run.optimizer.empty() ? "the one without a name"
                                                     : Clean(run.optimizer)));
  }
  if (!report.complaint.empty()) {
    out->push_back("Of the recording: " + report.complaint);
  }
}

struct Line {
  std::string name;
  std::string recorded;
  std::string simulated;
  std::string best;
  std::string worst;
};

std::vector<Line> LinesOf(const SimulationReport& r) {
  std::vector<Line> lines;
  const auto add = [&](const char* name, auto&& of, bool has_recorded = true) {
    lines.push_back({name, has_recorded ? of(r.recorded) : "", of(r.simulated),
                     of(r.at_best), of(r.at_worst)});
  };
  using O = const ScalerOutcome&;
  add("overflows", [](O o) { return Grouped(o.overflows); });
  add("skipped updates", [](O o) { return Grouped(o.skipped); });
  add("lowest scale", [](O o) { return InWords(o.lowest); });
  add("highest scale", [](O o) { return InWords(o.highest); });
  add("last scale", [](O o) { return InWords(o.last); });
  if (r.choice.scaler.parameters.floor > 0 || r.run->parameters.floor > 0) {
    add("updates at the floor", [](O o) { return Grouped(o.at_floor); });
  }
  add("too low for gradients", [](O o) {
    return o.bounded == 0 ? "not known"
                          : fmt::format("{} of {}", Grouped(o.underflow),
                                        Grouped(o.bounded));
  });
  add(
      "judged by gradients", [](O o) { return Grouped(o.measured); }, false);
  add(
      "assumed", [](O o) { return Grouped(AssumedOf(o)); }, false);
  return lines;
}

Json JsonOf(const Assumed& a) {
  Json json;
  json["attempts"] = json["update_attempts"] = a.updates;
  json["taken_to_overflow"] = a.overflows;
  json["no_attempt_tells"] = json["no_update_tells"] = a.untold;
  json["stuck_at_the_floor"] = a.stuck;
  json["first_step"] = nullptr;
  if (a.updates > 0) json["first_step"] = a.first_step;
  return json;
}

Json JsonOf(const ScalerOutcome& o, bool simulated) {
  Json json;
  json["overflows"] = o.overflows;
  json["skipped"] = o.skipped;
  json["lowest_scale"] = o.lowest;
  json["highest_scale"] = o.highest;
  json["last_scale"] = o.last;
  json["at_floor"] = o.at_floor;
  json["underflow"] = {{"attempts", o.underflow},
                       {"update_attempts", o.underflow},
                       {"of_known", o.bounded}};
  if (!simulated) return json;
  json["judged_by_gradients"] = o.measured;
  json["assumed"] = {{"at_a_higher_scale", JsonOf(o.higher)},
                     {"at_a_lower_scale", JsonOf(o.lower)}};
  return json;
}

Json JsonOf(const ScalerChoice& choice) {
  const ScalerParameters& p = choice.scaler.parameters;
  Json json;
  json["name"] = choice.spec != nullptr ? Json(choice.spec->name) : Json();
  json["title"] = choice.title;
  json["dynamic"] = p.growth != Growth::kNever;
  json["init_scale"] = p.init;
  if (p.growth == Growth::kNever) return json;
  json["growth_factor"] = p.growth_factor;
  json["growth_interval"] = p.growth_interval;
  json["backoff_factor"] = p.backoff_factor;
  json["hysteresis"] = p.hysteresis_count;
  json["min_scale"] = p.floor > 0 ? Json(p.floor) : Json();
  json["max_scale"] = p.ceiling > 0 ? Json(p.ceiling) : Json();
  return json;
}

std::string RecordedScaler(const RecordedRun& run) {
  if (run.scaler == nullptr) return "a scaler that is not known";
  return std::string(run.scaler->title) +
         (run.recognised ? ", by its moves" : "");
}

}  // namespace

std::vector<std::string> AssumptionsOf(const SimulationReport& report) {
  std::vector<std::string> out;
  out.push_back(
      "The gradients are those recorded: that other skipped updates make "
      "other weights is left out.");
  const ScalerOutcome& s = report.simulated;
  if (s.higher.updates > 0) {
    out.push_back(
        fmt::format("{}, first at step {}, did not overflow, and here {} a "
                    "higher scale.",
                    Updates(s.higher.updates), s.higher.first_step,
                    s.higher.updates == 1 ? "has" : "have") +
        HowAssumed(s.higher));
  }
  if (s.lower.updates > 0) {
    out.push_back(fmt::format("{}, first at step {}, overflowed, and here {} a "
                              "lower scale.",
                              Updates(s.lower.updates), s.lower.first_step,
                              s.lower.updates == 1 ? "has" : "have") +
                  HowAssumed(s.lower));
  }
  if (s.measured > 0) {
    out.push_back(fmt::format(
        "{} {} judged by the largest recorded gradient; ops that were not "
        "observed may have larger ones.",
        Updates(s.measured), s.measured == 1 ? "was" : "were"));
  }
  AddOfScaler(report, &out);
  AddOfRecording(report, &out);
  return out;
}

std::string SimulationText(const SimulationReport& report, const Style& style) {
  const RecordedRun& run = *report.run;
  std::string out = fmt::format(
      "{} attempt {}: {}, steps {} to {}\n", style.Bold(Clean(run.key.run_id)),
      run.key.attempt, Updates(run.updates.size()), run.updates.front().step,
      run.updates.back().step);
  out += Wrapped("recorded: " + RecordedScaler(run), 2, style.columns);
  out += Wrapped("simulated: " + report.choice.title + ": " +
                     ScalerInWords(report.choice.scaler),
                 2, style.columns);
  const bool assumed = AssumedOf(report.simulated) > 0 ||
                       AssumedOf(report.at_best) > 0 ||
                       AssumedOf(report.at_worst) > 0;
  out += '\n' +
         style.Dim(fmt::format("  {:<22}{:>14}{:>14}{}", "", "recorded",
                               "simulated",
                               assumed ? "       at best      at worst" : "")) +
         '\n';
  for (const Line& line : LinesOf(report)) {
    out += fmt::format("  {:<22}{:>14}{:>14}", line.name, line.recorded,
                       line.simulated);
    if (assumed) out += fmt::format("{:>14}{:>14}", line.best, line.worst);
    out += '\n';
  }
  if (assumed) {
    out +=
        style.Dim(Wrapped("at best: no update that had to be assumed "
                          "overflows; at worst: each does.",
                          2, style.columns));
  }
  out += '\n' + style.Bold("Assumed") + '\n';
  for (const std::string& sentence : AssumptionsOf(report)) {
    out += "  -" + Wrapped(sentence, 4, style.columns).substr(3);
  }
  return out;
}

std::string SimulationJson(const SimulationReport& report) {
  const RecordedRun& run = *report.run;
  Json json;
  json["run"] = run.key.run_id;
  json["attempt"] = run.key.attempt;
  json["attempts"] = json["update_attempts"] = run.updates.size();
  json["first_step"] = run.updates.front().step;
  json["last_step"] = run.updates.back().step;
  json["with_gradients"] = run.with_gradients;
  json["recorded_scaler"] = {
      {"name", run.scaler != nullptr ? Json(run.scaler->name) : Json()},
      {"recognised", run.recognised}};
  json["simulated_scaler"] = JsonOf(report.choice);
  json["recorded"] = JsonOf(report.recorded, false);
  json["simulated"] = JsonOf(report.simulated, true);
  json["at_best"] = JsonOf(report.at_best, true);
  json["at_worst"] = JsonOf(report.at_worst, true);
  json["assumptions"] = AssumptionsOf(report);
  return Dump(json, 2);
}

}  // namespace nanwatch
