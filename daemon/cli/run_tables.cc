#include "cli/run_tables.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "cli/summary_text.h"

namespace nanwatch {
namespace {

std::string RankLine(const v1::RankSummary& rank, const Style& style,
                     int64_t now_us) {
  double loss = 0;
  bool has_loss = false;
  std::optional<double> scale;
  for (const v1::StepValue& value : rank.values()) {
    if (!value.has_last()) continue;
    if (value.field() == "loss") {
      loss = value.last();
      has_loss = true;
    }
    if (value.field() == "loss_scale") scale = value.last();
  }
  return fmt::format(
      "  {:>6}  {}  {:<6}  {:>9}  {:>12}  {:>10}  {:>9}  {}\n", rank.rank(),
      Fitted(rank.host(), 16), Word(rank.state()), rank.last_step(),
      has_loss ? Number(loss) : "-", Number(scale),
      rank.steps() > 0 && rank.overflow_unknown() >= rank.steps()
          ? "-"  // not collected
          : Grouped(rank.overflows()),
      style.Tint(rank.severity(), Ago(rank.last_record_us(), now_us)));
}

// How it ended, beside when; empty: in order, or it goes on. Of runs that ended
// long ago only why they were closed is known.
std::string EndText(const v1::RunSummary& run) {
  constexpr size_t kWide = 60;  // characters; ours
  const std::string& by =
      run.condition().empty() ? run.end_reason() : run.ended_by();
  if (by.empty()) return "";
  return (run.condition().empty() ? ", " : ", ended by ") +
         Fitted(by, std::min(by.size(), kWide));
}

}  // namespace

std::string RanksTable(const v1::RunDetail& run, const Style& style,
                       int64_t now_us) {
  if (run.ranks_size() == 0) return {};
  std::string out = '\n' + style.Bold("Ranks") + '\n';
  out += style.Dim(fmt::format(
             "  {:>6}  {:<16}  {:<6}  {:>9}  {:>12}  {:>10}  {:>9}  {}", "rank",
             "host", "state", "step", "loss", "scale", "overflows",
             "last record")) +
         '\n';
  constexpr int kRanksShown = 32;
  for (int i = 0; i < std::min(run.ranks_size(), kRanksShown); ++i) {
    out += RankLine(run.ranks(i), style, now_us);
  }
  if (run.ranks_size() > kRanksShown) {
    out += fmt::format("  and {} more\n", run.ranks_size() - kRanksShown);
  }
  return out;
}

std::string OpsTable(const v1::RunDetail& run, const Style& style) {
  if (run.ops_size() == 0) return {};
  std::string out = '\n' + style.Bold("Ops that were bad") + '\n';
  for (const v1::OpSummary& op : run.ops()) {
    out += fmt::format(
        "  {}  {:<10} {:>15}, step {} to {}, {}\n", Fitted(op.name(), 28),
        op.slot(), Counted(op.bad_statuses(), "time"), op.first_bad_step(),
        op.last_bad_step(), Counted(op.bad_elements(), "element"));
  }
  return out;
}

std::string RunsTable(const v1::ListRunsResponse& runs, const Style& style) {
  if (runs.runs_size() == 0) {
    return "No run is known. A training appears here once it has opened a "
           "session.\n";
  }
  size_t wide = 9;
  for (const v1::RunSummary& run : runs.runs()) {
    wide = std::max(wide, HealthText(run).size());
  }
  std::string out =
      style.Dim(fmt::format("{:<{}} {:<24} {:>3} {:<6} {:>9} {:>11} {:>11}  {}",
                            "health", wide, "run", "try", "state", "step",
                            "loss", "scale", "last record")) +
      '\n';
  for (const v1::RunSummary& run : runs.runs()) {
    out += fmt::format(
        "{} {} {:>3} {:<6} {:>9} {:>11} {:>11}  {}\n",
        style.Tint(Shown(run), fmt::format("{:<{}}", HealthText(run), wide)),
        Fitted(run.run_id(), 24), run.attempt(), Word(run.state()),
        run.last_step(), Number(LastOf(run, "loss")),
        Number(LastOf(run, "loss_scale")),
        Ago(run.last_record_us(), runs.now_us()) + EndText(run));
  }
  return out;
}

}  // namespace nanwatch
