// Divergence: loss or gradients grow although nothing overflows.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "diagnose/cause_form.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

// ------------------------------------------------------------------ decides

// True for an update too small to change anything: the rule on updates has two
// sides.
bool IsSmallUpdate(const Finding& finding) {
  return finding.rule == kUpdateRatio && !finding.numbers.empty() &&
         finding.numbers[0].value < 1e-3;
}

// True for a loss below 0: the rule on what none can be has two sides.
bool IsLossMadeWrong(const Finding& finding) {
  return finding.rule == kLossImpossible &&
         NumberOf(finding, "loss").value_or(0) <= 0;
}

// Gradient norms that other causes speak of. Every rank may have some, so what
// holds for all is looked for once.
class NormsOfOthers {
 public:
  explicit NormsOfOthers(const Facts& f)
      : nan_loss_since_(f.evidence.loss_nonfinite > 0
                            ? f.evidence.first_nonfinite_loss_step
                            : INT64_MAX),
        born_backward_(f.backward.has_value()) {
    if (!f.found.has(kSdcStrikes)) return;
    for (const Finding& finding : f.found) {
      if (finding.rule == kSdcStrikes) accused_.insert(finding.subject.rank);
    }
  }

  bool Has(const Finding& finding) const {
    return IsOfAccusedRank(finding) || IsOfNanLoss(finding);
  }

 private:
  // True for a rank that strikes accuse, alone, while the training goes on:
  // silent corruption speaks of it.
  bool IsOfAccusedRank(const Finding& finding) const {
    return kNorm.has(finding.rule) && accused_.contains(finding.subject.rank);
  }

  // True for a loss that is NaN, or gradients that themselves began it: the
  // causes of NaN speak of it.
  bool IsOfNanLoss(const Finding& finding) const {
    return finding.rule == kGnormExplosion &&
           (born_backward_ || finding.opened_step >= nan_loss_since_);
  }

  int64_t nan_loss_since_;
  bool born_backward_;
  std::set<int32_t> accused_;
};

const Finding* FirstOf(const Facts& f, const RuleSet& rules) {
  if (!f.found.HasAny(rules)) return f.grown;
  const NormsOfOthers others(f);
  const Finding* first = f.found.FirstWhere([&](const Finding& finding) {
    return rules.has(finding.rule) && !IsSmallUpdate(finding) &&
           !IsLossMadeWrong(finding) && !others.Has(finding);
  });
  return first != nullptr ? first : f.grown;
}

// Returns what the verdict rests on: a loss that diverged, if that is
// found; its gradients left it with it, or were the first to. `first`: of all.
const Finding& Head(const Facts& f, const Finding& first) {
  if (f.grown != nullptr) return *f.grown;
  if (!f.found.HasAny(kLossLevel)) return first;
  const Severity least = std::min(first.severity, Severity::kWarning);
  const Finding* head = f.found.FirstOfTheWorst([&](const Finding& finding) {
    return kLossLevel.has(finding.rule) && finding.severity >= least;
  });
  if (head == nullptr) return first;
  // Gradients that add up from batch to batch say what the loss does not.
  const bool adds_up = kNorm.has(first.rule) && NumberOf(first, "grown_from");
  return adds_up && head->severity < Severity::kCritical ? first : *head;
}

// Returns the rule that it is named after. A loss that grew and is a number
// still is not named as one that is none, where another rule tells it.
RuleId NameOf(const Facts& f, const Finding& head) {
  const auto loss = NumberOf(head, "loss");
  if (head.rule != kLossNonfinite || !loss || !std::isfinite(*loss)) {
    return head.rule;
  }
  const Finding* level = f.found.FirstOfTheWorst([](const Finding& finding) {
    return kLossLevel.has(finding.rule) && finding.severity > Severity::kInfo;
  });
  return level == nullptr ? head.rule : level->rule;
}

// Returns its first step: the incident may have begun with a finding that is
// over by now.
int64_t Since(const RunEvidence& e, const Finding& first) {
  const bool goes_on = e.earlier_cause == Cause::kDivergence &&
                       e.earlier_to < 0 && !e.earlier.empty();
  return goes_on ? std::min(first.opened_step, e.earlier_from)
                 : first.opened_step;
}

// True when an overflow just before would be the simpler cause; those that came
// with a loss that jumped are its doing.
bool MayBeAnOverflow(const Facts& f, const Finding& first) {
  constexpr int64_t kLead = 50;  // steps; ours
  const RunEvidence& e = f.evidence;
  return e.last_overflow_step >= 0 &&
         e.first_overflow_step <= first.opened_step &&
         first.opened_step - e.last_overflow_step < kLead &&
         e.overflows_last_50 > 0 && f.with_the_loss.empty() &&
         e.applied_overflows == 0;
}

// True for one batch, mostly: not yet a training that diverges.
bool IsNote(const Facts& f, const CauseVerdict& verdict) {
  return !f.found.Any([&](const Finding& finding) {
    return finding.severity > Severity::kInfo && Explains(verdict, finding);
  });
}

// True for what is left of it, and for gradients that come back after it.
bool IsOldNews(const Facts& f, const Finding& head, bool note) {
  return f.of_earlier_loss && f.grown == nullptr &&
         (note || !kLossLevel.has(head.rule));
}

// --------------------------------------------------------------------- says

// True for gradients that rose while no loss went along: that is no divergence
// yet.
bool IsOfNormAlone(const Facts& f, const Finding& head) {
  return kNorm.has(head.rule) && !f.found.HasAny(kLossLevel);
}

Tensed SentenceOf(const Facts& f, const Match& match, bool note) {
  const RunEvidence& e = f.evidence;
  const Finding& head = *match.finding;
  const std::string_view how =
      !f.scaled                                     ? ""
      : e.overflows == 0 && f.with_the_loss.empty() ? ", without an overflow"
      : e.applied_overflows > 0 ? ", and updates that overflowed are applied"
                                : "";
  return InBothTenses([&](Tense tense) {
    const std::string& rule_says = head.Said(tense);
    if (head.rule == kLossImpossible) return rule_says;
    // What grew little by little did not begin at one step.
    if (NumberOf(head, "grown_from") && kNorm.has(head.rule)) return rule_says;
    // One that came down by itself was no training that diverged, nor is one
    // that left one record.
    const bool came_down =
        head.rule == kLossSpike && head.severity < Severity::kCritical &&
        (tense == Tense::kPast || NumberOf(head, "first_alone").has_value());
    // Its highest norm is another step's.
    if (kNorm.has(head.rule) && head.last_step > head.opened_step &&
        (note || IsOfNormAlone(f, head))) {
      return tense == Tense::kPast
                 ? fmt::format("From step {} to {}: {}", head.opened_step,
                               head.last_step, rule_says)
                 : fmt::format("Since step {}: {}", head.opened_step,
                               rule_says);
    }
    if (note || came_down || IsOfNormAlone(f, head)) {
      return fmt::format("At step {}: {}", head.opened_step, rule_says);
    }
    const int64_t step = match.verdict.step;
    return fmt::format("The training {}{}. {}",
                       tense == Tense::kPast
                           ? fmt::format("diverged at step {}", step)
                           : fmt::format("diverges from step {} on", step),
                       how, rule_says);
  });
}

// Returns what was said of the loss that is back by now.
std::string Earlier(const RunEvidence& e) {
  return e.earlier_over.empty() ? e.earlier : e.earlier_over;
}

// Says when the gradients left their level, beside a loss that did.
void SayOfNorm(const Facts& f, const Finding& head, Match* match) {
  if (!kLossLevel.has(head.rule) || !f.found.HasAny(kNorm)) return;
  const NormsOfOthers others(f);
  const Finding* norm = f.found.FirstWhere([&](const Finding& finding) {
    return kNorm.has(finding.rule) && !others.Has(finding);
  });
  if (norm == nullptr) return;
  const auto before =
      NumberOf(*norm, norm->rule == kGnormSpike ? "usual" : "largest_healthy");
  const auto now = NumberOf(*norm, "grad_norm");
  if (!before || !now) return;
  match->Support(
      EvidenceGrade::kSupported,
      fmt::format("The gradient norm rose {}, at step {}: from {:.4g} to "
                  "{:.4g}.",
                  norm->opened_step < head.opened_step   ? "first"
                  : norm->opened_step > head.opened_step ? "after the loss"
                                                         : "with the loss",
                  norm->opened_step, *before, *now));
}

// Says that it left its level for a value that no batch moves: a clamp, or
// units that are dead.
void SayFrozen(const Facts& f, Match* match) {
  const std::optional<FrozenLoss>& frozen = f.evidence.frozen;
  if (!frozen || frozen->loss == 0 || frozen->since < match->verdict.step) {
    return;
  }
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format("Since step {} the loss is {:.6g} to the last digit: no "
                  "batch moves it any more.",
                  frozen->since, frozen->loss));
}

void SayOfScale(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  if (f.found.HasAny(f.with_the_loss)) {
    match->Support(EvidenceGrade::kSupported,
                   std::string(!f.scaled ? "Updates that are not finite are"
                               : e.scale_min == e.scale_max
                                   ? "That updates overflow is"
                                   : "What the loss scale does is") +
                       " a consequence: the loss rose first, or with it.");
  }
  if (e.applied_overflows == 0) return;
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format("{} of {} {}updates {} and were applied all the same: each "
                  "writes Inf, NaN or clamped values into the weights.",
                  e.applied_overflows, e.updates,
                  LeavesStepsOut(e) ? "recorded " : "",
                  f.scaled ? "overflowed" : "were not finite"));
  match->Advise(f.scaled
                    ? "Let the scaler skip an update that overflowed."
                    : "Leave an update out whose gradient norm is not finite.");
}

}  // namespace

bool WhenDiverges(const Facts& f, const Matches&, Match* match) {
  CauseVerdict& verdict = match->verdict;
  const Finding* first = FirstOf(f, verdict.rules);
  if (first == nullptr) return false;
  verdict.grade = MayBeAnOverflow(f, *first) ? EvidenceGrade::kHypothesis
                                             : EvidenceGrade::kSupported;
  if (f.found.Any(IsSmallUpdate)) verdict.rules.Remove(kUpdateRatio);
  if (f.found.Any(IsLossMadeWrong)) verdict.rules.Remove(kLossImpossible);
  verdict.rules |= f.with_the_loss | f.after_the_loss;
  // What it brings; that it was no number is how far it went.
  verdict.rules.Add(RuleId::kScoreLost);
  if (f.grown != nullptr) {
    verdict.rules |= RuleSet{kLossNonfinite, RuleId::kEvaluationNonfinite,
                             RuleId::kTermNonfinite};
  }
  const Finding& head = Head(f, *first);
  match->finding = &head;
  verdict.origin = first->subject;
  verdict.step = Since(f.evidence, *first);
  if (f.grown != nullptr && f.evidence.rise) {
    verdict.step = std::min(verdict.step, f.evidence.rise->step);
  }
  const bool note = IsNote(f, verdict);
  if (IsOldNews(f, head, note)) return true;
  verdict.rule = NameOf(f, head);
  if (note) {
    // It is named as what is found.
    verdict.cause = Cause::kUnexplained;
    verdict.rules &= f.found.rules();
  }
  return true;
}

void SayDiverges(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const Finding& head = *match->finding;
  const bool note = IsNote(f, match->verdict);
  if (IsOldNews(f, head, note)) {
    match->Say(Earlier(e));
  } else {
    match->Quote(head);
    match->Say(SentenceOf(f, *match, note));
  }
  if (e.rise && f.grown != nullptr) {
    match->Support(
        EvidenceGrade::kEstablished,
        (e.rise->leapt
             ? fmt::format("The loss leapt to {:.4g} from step {} on, where it "
                           "had been {:.4g} at most, before it was no longer "
                           "finite.",
                           e.rise->to, e.rise->step, e.rise->from)
             : fmt::format("The loss rose from {:.4g} at step {} to {:.4g}, "
                           "record by record, before it was no longer "
                           "finite.",
                           e.rise->from, e.rise->from_step, e.rise->to)) +
            " So the place that was first not finite is not where it began.");
  }
  if (f.grown != nullptr && PrintsZeroForNan(f.run)) {
    match->Support(EvidenceGrade::kHypothesis,
                   "The loss is printed as exactly 0: most likely it is NaN, "
                   "which Hugging Face's Trainer leaves out of its mean.");
  }
  if (!note) {
    SayOfNorm(f, head, match);
    SayFrozen(f, match);
  }
  SayOfScale(f, match);
  if (e.ops_collected && e.ops.empty()) {
    match->Support(
        EvidenceGrade::kEstablished,
        "No tensor that was looked at ever held a NaN or an infinity.");
  }
}

// True when the loss is back, and what it did is found still.
bool WhenDivergenceOutlasted(const Facts& f, const Matches&, Match* match) {
  match->verdict.rules = f.with_the_loss | f.after_the_loss;
  const RunEvidence& e = f.evidence;
  if (match->verdict.rules.empty() || e.earlier.empty() ||
      e.earlier_cause != Cause::kDivergence) {
    return false;
  }
  match->verdict.grade = EvidenceGrade::kSupported;
  match->verdict.step = e.earlier_from;
  return true;
}

void SayDivergenceOutlasted(const Facts& f, Match* match) {
  match->Say(Earlier(f.evidence));
  SayOfScale(f, match);
}

}  // namespace nanwatch
