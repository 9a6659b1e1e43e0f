// An op overflows whatever the scale, and it is not known to be harmless.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr int kNotScaleDependent = 8;

const Finding* Find(const Case& c, int rule) {
  for (const Finding& finding : c.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

// Rule 8 speaks of a NaN in a forward output as well, whatever the scale did.
bool IsOfNan(const Finding& finding) {
  return std::any_of(
      finding.numbers.begin(), finding.numbers.end(),
      [](const EvidenceNumber& n) { return n.name == "nan" && n.value > 0; });
}

EvidenceGrade GradeOf(const Case& c, const OpEvidence& op) {
  if (BadAtEveryScale(op)) return EvidenceGrade::kEstablished;
  const bool unscaled = !c.evidence.scaler_dynamic && !c.evidence.scale_now;
  return BadAtEveryAttempt(op) || unscaled ? EvidenceGrade::kSupported
                                           : EvidenceGrade::kHypothesis;
}

std::string SentenceOf(const OpEvidence& op) {
  const char* const therefore =
      BadAtEveryAttempt(op) ? ", so lowering the scale cannot help"
                            : " in the forward pass, which a loss scale does "
                              "not reach";
  return fmt::format("{} overflows {}{}; up to {} of its elements are bad.",
                     InWords(op.op), WhenBad(op), therefore,
                     op.bad_elements_max);
}

}  // namespace

std::optional<CauseVerdict> ScaleIndependentOp(const Case& c) {
  // While the scaler calibrates itself everything looks like this.
  if (c.evidence.in_grace && c.evidence.first_good_step < 0) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  verdict.cause = Cause::kScaleIndependentOp;
  verdict.rules = {1, 2, 3, 4, 5, 6, 7, 8, 18, 19, 20, 21, 22};
  const OpEvidence* origin = nullptr;
  const bool has_nan = NanFromForward(c).has_value();
  for (const OpEvidence& op : c.evidence.ops) {
    if (IsHarmless(c, op) || !IsBadNow(op, c.evidence)) continue;
    // At a fixed scale nothing is known of others, but the forward pass does
    // not feel the scale at all.
    const bool fixed = IsForward(op) && BadAtEveryAttempt(op);
    const bool early = !has_nan && OverflowsUnscaled(op, c.evidence);
    if (!BadAtEveryScale(op) && !fixed && !early) continue;
    verdict.ops.push_back(op.op.name);
    if (origin == nullptr && !IsInput(op)) origin = &op;
  }
  if (origin != nullptr) {
    verdict.origin.op = origin->op.name;
    verdict.origin.slot = origin->slot;
    verdict.origin.rank = origin->rank;
    verdict.step = origin->first_bad_step;
    verdict.rules.push_back(25);  // saturated at the limit: the same trouble
    verdict.grade = GradeOf(c, *origin);
    verdict.sentence = SentenceOf(*origin);
    return verdict;
  }
  const Finding* finding = Find(c, kNotScaleDependent);
  if (finding == nullptr) return std::nullopt;
  const bool of_nan = IsOfNan(*finding);
  // Where the NaN began is told there.
  if (of_nan && has_nan) return std::nullopt;
  verdict.ops.clear();
  verdict.grade = EvidenceGrade::kSupported;
  verdict.origin = finding->subject;
  verdict.step = finding->opened_step;
  verdict.sentence = of_nan
                         ? "An op makes NaN, which no loss scale changes. "
                         : "The overflow goes on while the scale falls: an op "
                           "overflows whatever the scale. ";
  verdict.sentence += finding->sentence;
  return verdict;
}

}  // namespace nanwatch
