#include "cli/run_tables.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/grouped.h"
#include "cli/depth.h"
#include "cli/summary_text.h"

namespace nanwatch {
namespace {

constexpr std::string_view kScale = "loss_scale";

std::optional<double> LastOfRank(const v1::RankSummary& rank,
                                 std::string_view field) {
  for (const v1::StepValue& value : rank.values()) {
    if (value.field() == field && value.has_last()) return value.last();
  }
  return std::nullopt;
}

bool ToldOverflows(const v1::RankSummary& rank) {
  return rank.steps() == 0 || rank.overflow_unknown() < rank.steps();
}

bool AnyHasScale(const v1::RunDetail& run) {
  return std::any_of(run.ranks().begin(), run.ranks().end(),
                     [](const v1::RankSummary& rank) {
                       return LastOfRank(rank, kScale).has_value();
                     });
}

std::string RankLine(const v1::RankSummary& rank, bool scaled,
                     const Style& style, int64_t now_us) {
  std::string out = fmt::format(
      "  {:>6}  {}  {:<6}  {:>9}  {:>12}", rank.rank(), Fitted(rank.host(), 16),
      Word(rank.state()), rank.last_step(), Number(LastOfRank(rank, "loss")));
  if (scaled) out += fmt::format("  {:>10}", Number(LastOfRank(rank, kScale)));
  out += fmt::format("  {:>10}", ToldOverflows(rank) ? Grouped(rank.overflows())
                                                     : "-");  // not collected
  return out +
         fmt::format("  {}\n", style.Tint(rank.severity(),
                                          Ago(rank.last_record_us(), now_us)));
}

// Of the column of owners; 0: none is known.
size_t OwnerWidth(const v1::ListRunsResponse& runs) {
  constexpr size_t kLeast = 5;  // "owner"
  constexpr size_t kMost = 16;  // ours
  size_t longest = 0;
  for (const v1::RunSummary& run : runs.runs()) {
    longest = std::max(longest, run.owner().size());
  }
  return longest == 0 ? 0 : std::clamp(longest, kLeast, kMost);
}

// Those that run, and those that ended within a day.
v1::ListRunsResponse Recent(const v1::ListRunsResponse& runs) {
  constexpr int64_t kDay = int64_t{86400} * 1'000'000;
  v1::ListRunsResponse recent;
  recent.set_now_us(runs.now_us());
  for (const v1::RunSummary& run : runs.runs()) {
    const int64_t until = std::max(run.last_record_us(), run.ended_us());
    if (run.state() != v1::LIFE_STATE_CLOSED || runs.now_us() - until <= kDay) {
      *recent.add_runs() = run;
    }
  }
  return recent;
}

std::string OlderText(int older) {
  if (older == 0) return "";
  return fmt::format("{} of more than a day ago: nanwatch runs --all\n",
                     Counted(static_cast<uint64_t>(older), "run"));
}

// What "was critical" means; empty: it stands nowhere.
std::string WasText(const v1::ListRunsResponse& runs, const Style& style) {
  const bool any = std::any_of(runs.runs().begin(), runs.runs().end(),
                               [](const v1::RunSummary& run) {
                                 return HealthText(run).starts_with("was ");
                               });
  if (!any) return "";
  return style.Dim(
             "\"was\": at its worst. How such a run stood at its end: "
             "nanwatch diagnose RUN") +
         '\n';
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

std::string RanksTable(const v1::RunDetail& run, int most, const Style& style,
                       int64_t now_us) {
  if (run.ranks_size() == 0) return {};
  const bool scaled = AnyHasScale(run);
  std::string out = '\n' + style.Bold("Ranks") + '\n';
  std::string heads = fmt::format("  {:>6}  {:<16}  {:<6}  {:>9}  {:>12}",
                                  "rank", "host", "state", "step", "loss");
  if (scaled) heads += fmt::format("  {:>10}", "scale");
  heads += fmt::format("  {:>10}", scaled ? "overflows" : "not finite");
  out += style.Dim(heads + "  last record") + '\n';
  std::vector<const v1::RankSummary*> ranks;
  for (const v1::RankSummary& rank : run.ranks()) ranks.push_back(&rank);
  const int shown = std::min(run.ranks_size(), most);
  if (shown < run.ranks_size()) {
    std::stable_sort(ranks.begin(), ranks.end(), [](auto* a, auto* b) {
      return a->severity() > b->severity();
    });
  }
  for (int i = 0; i < shown; ++i) {
    out += RankLine(*ranks[static_cast<size_t>(i)], scaled, style, now_us);
  }
  return out + AndMore(run.ranks_size(), shown, "rank", 2);
}

std::string OpsTable(const v1::RunDetail& run, int most, const Style& style) {
  if (run.ops_size() == 0) return {};
  std::string out = '\n' + style.Bold("Ops that were bad") + '\n';
  const int shown = std::min(run.ops_size(), most);
  for (int i = 0; i < shown; ++i) {
    const v1::OpSummary& op = run.ops(i);
    const std::string when =
        op.last_bad_step() == op.first_bad_step()
            ? fmt::format("step {}", op.first_bad_step())
            : fmt::format("step {} to {}", op.first_bad_step(),
                          op.last_bad_step());
    out += fmt::format("  {}  {:<10} {:>12}, {}, {}\n", Fitted(op.name(), 28),
                       op.slot(), Counted(op.bad_statuses(), "time"), when,
                       Counted(op.bad_elements(), "element"));
  }
  return out + AndMore(run.ops_size(), shown, "op", 2);
}

std::string RunsTable(const v1::ListRunsResponse& known, const Style& style,
                      bool all) {
  if (known.runs_size() == 0) {
    return "No run is known. A training appears here once it has opened a "
           "session.\n";
  }
  const v1::ListRunsResponse runs = all ? known : Recent(known);
  const std::string more = OlderText(known.runs_size() - runs.runs_size());
  if (runs.runs_size() == 0) return "No run of the last day. " + more;
  size_t wide = 9;
  for (const v1::RunSummary& run : runs.runs()) {
    wide = std::max(wide, HealthText(run).size());
  }
  const bool scaled = std::any_of(runs.runs().begin(), runs.runs().end(),
                                  [](const v1::RunSummary& run) {
                                    return LastOf(run, kScale).has_value();
                                  });
  const size_t owner = OwnerWidth(runs);
  std::string heads =
      fmt::format("{:<{}} {:<24} {:>7} ", "health", wide, "run", "attempt");
  if (owner > 0) heads += fmt::format("{:<{}} ", "owner", owner);
  heads += fmt::format("{:<6} {:>9} {:>11}", "state", "step", "loss");
  if (scaled) heads += fmt::format(" {:>11}", "scale");
  std::string out = style.Dim(heads + "  last record") + '\n';
  for (const v1::RunSummary& run : runs.runs()) {
    out += fmt::format("{} {} {:>7} ",
                       style.Tint(ShownSeverity(run),
                                  fmt::format("{:<{}}", HealthText(run), wide)),
                       Fitted(run.run_id(), 24), run.attempt());
    if (owner > 0) out += Fitted(run.owner(), owner) + ' ';
    out += fmt::format("{:<6} {:>9} {:>11}", Word(run.state()), run.last_step(),
                       Number(LastOf(run, "loss")));
    if (scaled) out += fmt::format(" {:>11}", Number(LastOf(run, kScale)));
    out += fmt::format("  {}\n",
                       Ago(run.last_record_us(), runs.now_us()) + EndText(run));
  }
  return out + WasText(runs, style) + more;
}

}  // namespace nanwatch
