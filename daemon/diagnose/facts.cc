#include "diagnose/facts.h"

#include <algorithm>

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

// Returns null where none is worse than a note.
const Finding* FirstWarning(const FindingIndex& found, const RuleSet& rules) {
  RuleSet warn;
  for (const RuleId rule : found.rules() & rules) {
    if (found.worst(rule) > Severity::kInfo) warn.Add(rule);
  }
  if (warn.empty()) return nullptr;
  return found.FirstWhere([&](const Finding& finding) {
    return warn.has(finding.rule) && finding.severity > Severity::kInfo;
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
  if (const Finding* loss = FirstWarning(found, kLossLevel)) {
    after_the_loss |= BroughtBy(Trouble::kLossWarns, loss->opened_step, found);
  }
  if (const Finding* ran = FirstWarning(found, kLossLevel | kNorm)) {
    after_the_loss |= BroughtBy(Trouble::kRanAway, ran->opened_step, found);
  }
  after_the_loss &= found.rules();
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
