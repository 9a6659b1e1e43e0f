// Divergence: loss or gradients grow although nothing overflows.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"
#include "diagnose/nan_from_backward.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {

namespace {

// Rule 38 has two sides: updates too large, and too small to change anything.
bool IsSmallUpdate(const Finding& finding) {
  return finding.rule == RuleId::kUpdateRatio && !finding.numbers.empty() &&
         finding.numbers[0].value < 1e-3;
}

// Gradient norms that other causes speak of. Every rank may have some, so what
// holds for all is looked for once.
class NormsOfOthers {
 public:
  explicit NormsOfOthers(const Case& c)
      : nan_loss_since_(c.evidence.loss_nonfinite > 0
                            ? c.evidence.first_nonfinite_loss_step
                            : INT64_MAX),
        born_backward_(FindBackwardNan(c).has_value()) {
    for (const Finding& finding : c.findings) {
      if (finding.rule == RuleId::kSdcStrikes)
        accused_.insert(finding.subject.rank);
    }
  }

  bool Has(const Finding& finding) const {
    return IsOfAccusedRank(finding) || IsOfNanLoss(finding);
  }

 private:
  // Of a rank that rule 51 accuses: that rank alone, while the training goes
  // on. Silent corruption speaks of it.
  bool IsOfAccusedRank(const Finding& finding) const {
    return (finding.rule == RuleId::kGnormSpike ||
            finding.rule == RuleId::kGnormExplosion) &&
           accused_.contains(finding.subject.rank);
  }

  // Of a loss that is NaN, or of gradients that themselves began it:
  // NanFromForward or NanFromBackward speaks of it.
  bool IsOfNanLoss(const Finding& finding) const {
    return finding.rule == RuleId::kGnormExplosion &&
           (born_backward_ || finding.opened_step >= nan_loss_since_);
  }

  int64_t nan_loss_since_;
  bool born_backward_;
  std::set<int32_t> accused_;
};

// One batch, mostly: not yet a training that diverges.
bool IsNote(const Case& c, const CauseVerdict& verdict) {
  return std::none_of(
      c.findings.begin(), c.findings.end(), [&](const Finding& finding) {
        return Explains(verdict, finding) && finding.severity > Severity::kInfo;
      });
}

// Rule 35 right after a restart: no training that diverges, but one that lost
// its checkpoint.
bool IsOfRestart(const Finding& finding) {
  return NumberOf(finding, "loss_before_restart").has_value();
}

// What the verdict rests on: a loss that left its way, if that is found; its
// gradients left it with it, or were the first to. `first`: of all.
const Finding& Head(const Case& c, const Finding& first) {
  const Severity least = std::min(first.severity, Severity::kWarning);
  const Finding* head = FirstOfTheWorst(c.findings, [&](const Finding& f) {
    return IsOfLoss(f.rule) && f.severity >= least;
  });
  return head == nullptr ? first : *head;
}

// The incident may have begun with a finding that is over by now.
int64_t Since(const RunEvidence& e, const Finding& first) {
  const bool goes_on = e.earlier_cause == Cause::kDivergence &&
                       e.earlier_to < 0 && !e.earlier.empty();
  return goes_on ? std::min(first.opened_step, e.earlier_from)
                 : first.opened_step;
}

std::string Sentence(int64_t since, const Finding& head, bool note,
                     std::string_view how) {
  if (IsOfRestart(head)) return head.sentence;
  return note ? fmt::format("At step {}: {}", head.opened_step, head.sentence)
              : fmt::format("The training diverges since step {}{}: {}", since,
                            how, head.sentence);
}

void SayOfScale(const Case& c, const RuleSet& consequences,
                CauseVerdict* verdict) {
  const RunEvidence& e = c.evidence;
  for (const Finding& finding : c.findings) {
    if (std::find(consequences.begin(), consequences.end(), finding.rule) !=
        consequences.end()) {
      verdict->evidence.push_back(
          {EvidenceGrade::kSupported,
           "A consequence, since the loss rose first or with it: " +
               finding.sentence});
    }
  }
  if (e.applied_overflows == 0) return;
  verdict->evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format("Overflowed updates are applied all the same, {} in {} "
                   "attempts: each writes Inf, NaN or clamped values into the "
                   "weights.",
                   e.applied_overflows, e.attempts)});
  verdict->actions.push_back(
      {"", IsScaled(c)
               ? "Let the scaler skip an update that overflowed."
               : "Leave an update out whose gradient norm is not finite."});
}

// What was said of the loss that is back by now.
std::string Earlier(const RunEvidence& e) {
  constexpr std::string_view kNow = "The training diverges since step ";
  if (!e.earlier.starts_with(kNow)) return e.earlier;
  return "The training left its way at step " + e.earlier.substr(kNow.size());
}

// The loss is back, and what it did to the scale is found still.
std::optional<CauseVerdict> Outlasted(const Case& c) {
  if (!IsOfEarlierLoss(c)) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kDivergence;
  verdict.rules = ConsequencesOfLoss(c);
  if (verdict.rules.empty()) return std::nullopt;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.step = c.evidence.earlier_from;
  verdict.sentence = Earlier(c.evidence);
  SayOfScale(c, verdict.rules, &verdict);
  return verdict;
}

}  // namespace

std::optional<CauseVerdict> Divergence(const Case& c) {
  static constexpr RuleSet kRules = {
      RuleId::kNumericMutation, RuleId::kGnormSpike,
      RuleId::kGnormExplosion,  RuleId::kGradRatio,
      RuleId::kLossSpike,       RuleId::kLossHighPlateau,
      RuleId::kUpdateRatio,     RuleId::kUpdateNormSpike,
      RuleId::kWeightOutOfRange};
  const RunEvidence& e = c.evidence;
  const NormsOfOthers others(c);
  const Finding* first = FirstFound(c.findings, [&](const Finding& finding) {
    return kRules.has(finding.rule) && !IsSmallUpdate(finding) &&
           !others.Has(finding);
  });
  const Finding* grown = GrownLoss(c);
  if (first == nullptr) first = grown;
  if (first == nullptr) return Outlasted(c);
  // An overflow just before would be the simpler cause; those that came with a
  // loss that jumped are its doing.
  constexpr int64_t kLead = 50;
  const RuleSet consequences = ConsequencesOfLoss(c);
  const bool overflowed = e.last_overflow_step >= 0 &&
                          e.first_overflow_step <= first->opened_step &&
                          first->opened_step - e.last_overflow_step < kLead &&
                          e.overflows_last_50 > 0 && consequences.empty() &&
                          e.applied_overflows == 0;
  const bool none = e.overflows == 0 && consequences.empty();
  CauseVerdict verdict;
  verdict.cause = Cause::kDivergence;
  verdict.grade =
      overflowed ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  for (const RuleId rule : kRules) {
    const bool small = std::any_of(
        c.findings.begin(), c.findings.end(),
        [&](const Finding& f) { return f.rule == rule && IsSmallUpdate(f); });
    if (!small) verdict.rules.Add(rule);
  }
  verdict.rules |= consequences;
  for (const RuleId rule : AfterTheLoss(c)) verdict.rules.Add(rule);
  if (grown != nullptr) {
    // All that came after it is its doing.
    verdict.rules |= {RuleId::kOverflowStreak,
                      RuleId::kOverflowRate,
                      RuleId::kNeverCalibrated,
                      RuleId::kOverflowNotScaleDependent,
                      RuleId::kLossNonfinite,
                      RuleId::kWeightNonfinite,
                      RuleId::kOptimizerStateNonfinite,
                      RuleId::kOpOverflowOrigin,
                      RuleId::kOpOverflowPropagated,
                      RuleId::kPersistentOpOverflow,
                      RuleId::kOpSaturation,
                      RuleId::kOpInternalOverflow,
                      RuleId::kNearOverflow};
  }
  const Finding& head = grown != nullptr ? *grown : Head(c, *first);
  verdict.rule = head.rule;
  verdict.origin = first->subject;
  verdict.step = Since(e, *first);
  const bool note = IsNote(c, verdict);
  verdict.sentence = Sentence(verdict.step, head, note,
                              none ? " without an overflow"
                              : e.applied_overflows > 0
                                  ? ", and updates that overflowed are applied"
                                  : "");
  // What is left of it is no news, nor are gradients that come back after it.
  if (IsOfEarlierLoss(c) && (note || !IsOfLoss(head.rule))) {
    verdict.rule = RuleId::kNone;
    verdict.sentence = Earlier(e);
  }
  if (IsOfRestart(head)) {
    verdict.actions.push_back(
        {"",
         "Stop it and look which checkpoint was loaded (its path, its "
         "step, missing keys that were passed over), then resume from the "
         "last one before the restart."});
  }
  SayOfScale(c, consequences, &verdict);
  if (e.ops_collected && e.ops.empty()) {
    verdict.evidence.push_back({EvidenceGrade::kEstablished,
                                "Of the tensors that were looked at none ever "
                                "held a NaN or an infinity."});
  }
  return verdict;
}

}  // namespace nanwatch
