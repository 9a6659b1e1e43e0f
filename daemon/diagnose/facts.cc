#include "diagnose/facts.h"

#include <algorithm>
#include <cmath>

#include "diagnose/brought.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"

namespace nanwatch {
namespace {

using enum RuleId;

// 2^32, the highest scale that any program begins at, is 2^-8 after so many
// halvings.
constexpr uint64_t kAllHalvings = 40;  // overflows; Megatron's 2^32

bool IsUnseen(const Case& c) {
  const RunEvidence& e = c.evidence;
  return !e.scale_max && e.skipped > 0 && !e.scaler_dynamic &&
         !e.ops_collected && c.run.scaler.kind == ScalingKind::kUnknown;
}

bool IsStuck(const Facts& f) {
  static constexpr RuleSet kSay = {kScaleAtFloor, kScaleBelowOne,
                                   kScaleUnrepresentable, kOverflowStreak,
                                   kNeverCalibrated};
  const RunEvidence& e = f.evidence;
  const bool mostly = 2 * e.overflows_last_50 > e.updates_last_50;
  const bool at_the_floor =
      f.unseen ? e.overflow_streak >= kAllHalvings
               : e.scaler_dynamic && IsAtTheFloor(e) &&
                     (e.overflow_streak >= f.at.floor_streak || mostly);
  if (!at_the_floor || e.applied_overflows_last_50 > 0) return false;
  for (const RuleId rule : kSay) {
    if (f.found.worst(rule) == Severity::kCritical) return true;
  }
  return false;
}

bool AreOfOutliers(const Facts& f) {
  const RunEvidence& e = f.evidence;
  if (f.found.HasAny(kBurst)) return false;
  // All of them, but for the search of the start.
  const auto start = static_cast<uint64_t>(StartUpOverflows(e));
  return std::any_of(
      e.outliers.begin(), e.outliers.end(), [&](const OutlierBatches& of) {
        return of.overflows > 0 && of.overflows >= e.overflows - start;
      });
}

// A norm that is not finite did not run away: it was born so. Nor did a loss
// whose checkpoint was not loaded.
bool RunsAway(const Finding& finding) {
  return (kLossLevel | kNorm).has(finding.rule) &&
         finding.severity > Severity::kInfo &&
         std::isfinite(NumberOf(finding, "grad_norm").value_or(0)) &&
         !NumberOf(finding, "loss_before_restart");
}

std::optional<RanAway> FindRanAway(const Facts& f) {
  const RunEvidence& e = f.evidence;
  std::optional<RanAway> away;
  if (const Finding* first = f.found.FirstWhere(RunsAway)) {
    // A warning may be of something else than what comes long after it.
    const bool lasts = first->severity == Severity::kCritical;
    away = {first->opened_step, lasts ? INT64_MAX : first->opened_step};
  }
  if (f.grown != nullptr) {
    // It had begun before it was found.
    const int64_t from = e.rise ? e.rise->from_step : f.grown->opened_step - 1;
    away = {std::min(from, away ? away->from : from)};
  }
  const bool before =
      e.earlier_cause == Cause::kDivergence && !e.earlier.empty();
  if (!before || (away && away->from <= e.earlier_from)) return away;
  return RanAway{e.earlier_from,
                 std::max(away ? away->until : e.earlier_from, e.earlier_to)};
}

// True where gradients are 0, and not made so by the program.
bool AreFaultsOfZeros(const FindingIndex& found) {
  return !found.Any([](const Finding& finding) {
    return finding.rule == RuleId::kUpdateFault &&
           NumberOf(finding, "fault") !=
               static_cast<double>(UpdateFault::kAllZero);
  });
}

}  // namespace

Facts::Facts(const Case& c, std::span<const Finding> findings)
    : Case(c), found(findings) {
  harmless_.reserve(evidence.ops.size());
  for (const OpEvidence& op : evidence.ops) {
    harmless_.push_back(nanwatch::IsHarmless(*this, op));
  }
  FindScale();
  FindLoss();
  broken_off = found.FirstWhere([](const Finding& finding) {
    return finding.rule == kProgramEnded ||
           NumberOf(finding, "ranks_lost").has_value();
  });
  backward = FindBackwardNan(*this);
  forward = FindForwardNan(*this);
  padding = FindPadding(*this);
}

void Facts::FindScale() {
  const RunEvidence& e = evidence;
  scaled = IsScaled(*this);
  unseen = IsUnseen(*this);
  stuck = IsStuck(*this);
  beyond_probing = e.scale_now ? IsNoScale(e) || *e.scale_now < at.tiny_scale ||
                                     (IsAtTheFloor(e) &&
                                      e.overflow_streak >= at.floor_streak)
                               : stuck;
  of_outliers = AreOfOutliers(*this);
}

void Facts::FindLoss() {
  const RunEvidence& e = evidence;
  if (found.has(kLossNonfinite)) {
    grown = found.FirstWhere([](const Finding& finding) {
      return finding.rule == kLossNonfinite &&
             NumberOf(finding, "grown_from").has_value();
    });
    const Finding* first = found.First(kLossNonfinite);
    if (grown == nullptr && e.rise) grown = first;
    if (NumberOf(*first, "streak").value_or(0) >= 2) lasting_nan = first;
  }
  of_earlier_loss = e.earlier_cause == Cause::kDivergence &&
                    kLossLevel.has(e.earlier_rule) && !e.earlier.empty() &&
                    e.earlier_to < 0;
  if (const Finding* loss = found.First(kLossLevel)) {
    with_the_loss =
        BroughtBy(Trouble::kLossLeft, loss->opened_step, found) & found.rules();
  } else if (of_earlier_loss) {
    with_the_loss =
        BroughtBy(Trouble::kLossLeft, e.earlier_from, found) & found.rules();
  }
  ran_away = FindRanAway(*this);
  if (!ran_away) return;
  after_the_loss = found.rules() & BroughtBy(Trouble::kRanAway, ran_away->from,
                                             found, ran_away->until);
  if (!AreFaultsOfZeros(found)) after_the_loss.Remove(RuleId::kUpdateFault);
}

bool Facts::IsBadAtEveryScale(const OpEvidence& op) const {
  return BadAtEveryScale(op, at.scales_apart);
}

RuleId Facts::HeadOfScale(const RuleSet& rules) const {
  if (!found.HasAny(rules)) return kNone;
  const Finding* head = found.FirstOfTheWorst([&](const Finding& finding) {
    return finding.family == Family::kScale && rules.has(finding.rule);
  });
  return head == nullptr ? kNone : head->rule;
}

}  // namespace nanwatch
