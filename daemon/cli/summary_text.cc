#include "cli/summary_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace nanwatch {
namespace {

// Less is what clocks differ by where nothing is wrong with them.
constexpr int64_t kSkewShown = 60'000'000;

// "61 s", "3 h": to the nearest, as a clock that is 3 h off is never so
// exactly.
std::string ClockSpan(int64_t us) {
  constexpr std::pair<int64_t, const char*> kUnits[] = {
      {1, "s"}, {60, "min"}, {3600, "h"}, {86400, "d"}};
  // Seconds below 2 min, minutes below 2 h, hours below 2 d.
  constexpr int64_t kBelow[] = {120, 7200, 172800, INT64_MAX};
  const int64_t seconds = us / 1'000'000 + (us % 1'000'000 >= 500'000);
  size_t i = 0;
  while (seconds >= kBelow[i]) ++i;
  const auto [unit, name] = kUnits[i];
  return fmt::format("{} {}", (seconds + unit / 2) / unit, name);
}

}  // namespace

std::string CountText(uint64_t count, uint64_t all, uint64_t unknown,
                      std::string_view what) {
  if (all > 0 && unknown >= all) return fmt::format("{}: not collected", what);
  std::string out = fmt::format("{} {}", Grouped(count), what);
  if (unknown > 0) out += fmt::format(" ({} not known)", Grouped(unknown));
  return out;
}

std::string HealthText(const v1::RunSummary& run) {
  // A daemon of before says the severity only.
  return run.health().empty() ? std::string(Word(run.severity()))
                              : Clean(run.health());
}

v1::Severity ShownSeverity(const v1::RunSummary& run) {
  return run.health().empty() ? run.severity() : run.health_severity();
}

std::optional<double> LastOf(const v1::RunSummary& run,
                             std::string_view field) {
  for (const v1::StepValue& value : run.values()) {
    if (value.field() == field && value.has_last()) return value.last();
  }
  return std::nullopt;
}

std::string HeadText(const v1::RunSummary& run, const Style& style) {
  std::string out = style.Bold(
      Fitted(run.run_id(), std::min<size_t>(run.run_id().size(), 60)));
  if (!run.job().empty()) out += "  " + Clean(run.job());
  out += style.Dim(
      fmt::format("  attempt {}, {}", run.attempt(), Word(run.state())));
  if (!run.owner().empty()) {
    out += style.Dim(", owned by " + Clean(run.owner()));
  }
  if (!run.end_reason().empty()) {
    out += style.Dim(" (" + Clean(run.end_reason()) + ")");
  }
  if (run.has_judged_to_end() && !run.judged_to_end()) {
    out += style.Dim(", not judged to its end");
  }
  return out + '\n';
}

std::string VerdictText(const v1::RunSummary& run, const Style& style) {
  std::string word = Upper(HealthText(run));
  if (run.state() == v1::LIFE_STATE_CLOSED) word += ", ended";
  return style.Tint(ShownSeverity(run), word) + '\n' +
         Wrapped(run.headline(), 2, style.columns);
}

std::string ClockText(const v1::RunDetail& run) {
  int off = 0;
  int64_t most = 0;
  int32_t whose = 0;
  for (const v1::RankSummary& rank : run.ranks()) {
    const int64_t skew = rank.clock_skew_us();
    if (skew <= kSkewShown && skew >= -kSkewShown) continue;
    if (off++ > 0 && std::abs(skew) <= std::abs(most)) continue;
    most = skew;
    whose = rank.rank();
  }
  if (off == 0) return "";
  const std::string by = ClockSpan(std::abs(most));
  const std::string_view where = most > 0 ? "ahead" : "behind";
  if (off == 1) {
    return fmt::format(
        "rank {}'s clock is {} {}: times are shown by the daemon's", whose, by,
        where);
  }
  return fmt::format(
      "the clocks of {} are off, rank {}'s most, {} {}: times are shown by the "
      "daemon's",
      Counted(off, "rank"), whose, by, where);
}

std::string RanksText(const v1::RunSummary& run) {
  const std::string all =
      Counted(static_cast<uint64_t>(run.world_size()), "rank");
  return run.state() == v1::LIFE_STATE_CLOSED
             ? all
             : fmt::format("{} of {}", Grouped(run.ranks_open()), all);
}

bool HasScale(const v1::RunSummary& run) {
  return LastOf(run, "loss_scale").has_value();
}

namespace {

// Of a run without a loss scale nobody asks for overflows, but whether the
// gradients are finite.
std::string CountsText(const v1::RunSummary& run) {
  return fmt::format(
      "step {}: {}, {}; {}, {}, {}", run.last_step(),
      Counted(run.attempts(), "update"),
      CountText(run.applied(), run.attempts(), run.fate_unknown(), "applied"),
      Counted(run.steps(), "record"),
      CountText(run.overflows(), run.steps(), run.overflow_unknown(),
                HasScale(run) ? "overflowed" : "with gradients not finite"),
      CountText(run.skipped(), run.steps(), run.skipped_unknown(), "skipped"));
}

std::string ValuesText(const v1::RunSummary& run) {
  std::string out = fmt::format("  loss {}", Number(LastOf(run, "loss")));
  if (const std::optional<double> scale = LastOf(run, "loss_scale")) {
    out += fmt::format("   loss scale {}", Number(*scale));
  }
  return out +
         fmt::format("   gradient norm {}\n", Number(LastOf(run, "grad_norm")));
}

}  // namespace

std::string NumbersText(const v1::RunDetail& detail, const Style& style) {
  const v1::RunSummary& run = detail.summary();
  std::string out = style.Bold("Numbers") + '\n';
  out += Wrapped(CountsText(run), 2, style.columns) + ValuesText(run);
  const v1::ScalerSummary& scaler = detail.scaler();
  if (!scaler.name().empty()) {
    out += fmt::format("  scaler {}{}", Clean(scaler.name()),
                       scaler.recognised() ? " (recognised)" : "");
    if (scaler.has_floor()) {
      out += fmt::format(", floor {}", Number(scaler.floor()));
    }
    if (scaler.has_attempts_to_floor()) {
      out += fmt::format(", reached in {} at this rate",
                         Counted(scaler.attempts_to_floor(), "update"));
    }
    out += '\n';
  }
  if (scaler.has_layers()) {
    const v1::LayerScalesSummary& layers = scaler.layers();
    out += fmt::format("  loss scales of {}: {} ({}) to {} ({})\n",
                       Counted(layers.layers(), "layer"),
                       Number(layers.lowest()), Clean(layers.lowest_op()),
                       Number(layers.highest()), Clean(layers.highest_op()));
  }
  out += "  " + RanksText(run);
  if (run.state() != v1::LIFE_STATE_CLOSED) out += " connected";
  if (run.ranks_lost() > 0) {
    out += fmt::format(", {} lost", Grouped(run.ranks_lost()));
  }
  if (run.dropped_steps() > 0) {
    out += fmt::format("; {} {} dropped by clients",
                       Counted(run.dropped_steps(), "step record"),
                       run.dropped_steps() == 1 ? "was" : "were");
  }
  out += '\n' + Wrapped(ClockText(detail), 2, style.columns);
  if (detail.judged_since() > 0) {
    out += fmt::format("  judged since step {}\n", detail.judged_since());
  }
  if (!detail.stop_requested().empty()) {
    out +=
        Wrapped("stop requested: " + detail.stop_requested(), 2, style.columns);
  }
  return out;
}

}  // namespace nanwatch
