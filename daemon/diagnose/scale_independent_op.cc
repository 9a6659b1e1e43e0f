// An op overflows whatever the scale, and it is not known to be harmless; or it
// makes NaN in the backward pass, whatever the scale.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

#include "diagnose/cause_form.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kNotScaleDependent = RuleId::kOverflowNotScaleDependent;

// False while the scaler calibrates itself: everything looks like this then.
// What has grown out of the range, and what is NaN in the backward pass where
// nothing is scaled, have causes of their own.
bool MayBe(const Facts& f) {
  const bool searches = f.evidence.in_grace && f.evidence.first_good_step < 0;
  return !searches && !f.backward;
}

// Returns the first op that is bad now and overflows whatever the scale; null
// without one.
const OpEvidence* Origin(const Facts& f) {
  const RunEvidence& e = f.evidence;
  for (const OpEvidence& op : e.ops) {
    if (f.IsHarmless(op) || !IsBadNow(op, e)) continue;
    if (IsGradient(op) && HasHelped(e)) continue;
    // At a fixed scale nothing is known of others, but the forward pass does
    // not feel the scale at all.
    const bool fixed = IsForward(op) && BadAtEveryUpdate(op);
    const bool early = !f.forward && OverflowsUnscaled(op, e);
    if (!f.IsBadAtEveryScale(op) && !fixed && !early) continue;
    if (!IsInput(op)) return &op;
  }
  return nullptr;
}

// Returns, of gradients that are bad for long, the one that a module made of a
// finite one: those of parameters, and of all before it in the model, are bad
// after it. It may be seen later, since modules are looked at in turn.
const OpEvidence* Maker(const RunEvidence& e, const OpEvidence& origin) {
  if (IsForward(origin) || origin.first_inputs_clean) return &origin;
  for (const OpEvidence& op : e.ops) {
    if (op.slot == Slot::kGradInput && op.first_inputs_clean && op.nan > 0 &&
        op.first_bad_step >= origin.first_bad_step &&
        op.first_bad_step <= origin.last_bad_step) {
      return &op;
    }
  }
  return &origin;
}

// True when gradients held NaN, and no infinities at `step` or since: those are
// what too high a scale makes, and what a NaN is made of then. Infinities
// before `step` were of another trouble, the search for a scale perhaps.
bool MakesNanAlone(const RunEvidence& e, int64_t step) {
  bool nan = false;
  for (const OpEvidence& op : e.ops) {
    if (!IsGradient(op)) continue;
    if (op.inf > 0 && op.last_beyond_step >= step) return false;
    nan = nan || op.nan > 0;
  }
  return nan;
}

EvidenceGrade GradeOf(const Facts& f, const OpEvidence& op) {
  if (f.IsBadAtEveryScale(op)) {
    // Gradients that grew may fit at a scale that is lower yet.
    return IsGradient(op) && op.inf > 0 ? EvidenceGrade::kSupported
                                        : EvidenceGrade::kEstablished;
  }
  const bool unscaled = !f.evidence.scaler_dynamic && !f.evidence.scale_now;
  return BadAtEveryUpdate(op) || unscaled ? EvidenceGrade::kSupported
                                          : EvidenceGrade::kHypothesis;
}

bool BeginsAtAnOp(const Facts& f, Match* match) {
  match->op = MayBe(f) ? Origin(f) : nullptr;
  if (match->op == nullptr) return false;
  const OpEvidence& origin = *match->op;
  match->other = Maker(f.evidence, origin);
  match->verdict.origin = OriginOf(*match->other);
  match->verdict.step = origin.first_bad_step;
  match->verdict.grade = GradeOf(f, origin);
  ExplainBadFor(f, origin, &match->verdict);
  return true;
}

// Returns the first finding that the overflow does not depend on the scale, of
// an op that is not known to do no harm; null without one.
const Finding* FirstNotHarmless(const Facts& f) {
  if (!f.found.has(kNotScaleDependent)) return nullptr;
  const auto harmless = [&](const Finding& finding) {
    return std::any_of(f.evidence.ops.begin(), f.evidence.ops.end(),
                       [&](const OpEvidence& op) {
                         return IsOf(op, finding.subject) && f.IsHarmless(op);
                       });
  };
  for (const Finding& finding : f.found) {
    if (finding.rule == kNotScaleDependent && !harmless(finding)) {
      return &finding;
    }
  }
  return nullptr;
}

// True for a NaN: the rule speaks of one in a forward output as well, whatever
// the scale did.
bool IsOfNan(const Finding& finding) {
  return NumberOf(finding, "nan").value_or(0) > 0;
}

}  // namespace

bool WhenNanAtAnyScale(const Facts& f, const Matches&, Match* match) {
  if (!BeginsAtAnOp(f, match)) return false;
  const OpEvidence& origin = *match->op;
  return match->other != match->op ||
         (IsGradient(origin) &&
          MakesNanAlone(f.evidence, origin.first_bad_step));
}

void SayNanAtAnyScale(const Facts& f, Match* match) {
  const OpEvidence& first = *match->op;
  const OpEvidence& maker = *match->other;
  if (&maker == &first) {
    match->Say(fmt::format(
        "NaN is born in the backward pass{}. The gradient of {} is not finite "
        "{}.{}",
        f.scaled ? ", whatever the scale" : "", first.op.name, WhenBad(first),
        f.scaled ? " No gradient is infinite then; a scale that is too high "
                   "would make infinities first."
                 : ""));
    return;
  }
  match->Say(
      fmt::format("{} makes NaN in the backward pass. The gradient that "
                  "reaches it is finite, the one that leaves it holds up to {} "
                  "NaN. The gradient of {} is not finite {}.{}",
                  InWords(maker.op), maker.nan, first.op.name, WhenBad(first),
                  f.scaled && BadAtEveryUpdate(first)
                      ? " Lowering the loss scale cannot help."
                      : ""));
}

bool WhenOpAtAnyScale(const Facts& f, const Matches&, Match* match) {
  return BeginsAtAnOp(f, match);
}

void SayOpAtAnyScale(const Facts& f, Match* match) {
  const OpEvidence& op = *match->op;
  const char* const therefore =
      !f.scaled ? ""
      : BadAtEveryUpdate(op)
          ? " Lowering the loss scale cannot help."
          : " That is in the forward pass, which a loss scale does not reach.";
  match->Say(fmt::format(
      "{} {} {}. Up to {} bad.{}", InWords(op.op),
      op.nan > 0 ? "makes NaN" : "overflows", WhenBad(op),
      op.bad_elements_max == 1
          ? "1 of its elements is"
          : fmt::format("{} of its elements are", op.bad_elements_max),
      therefore));
}

bool WhenFindingAtAnyScale(const Facts& f, const Matches&, Match* match) {
  match->finding = MayBe(f) ? FirstNotHarmless(f) : nullptr;
  if (match->finding == nullptr) return false;
  // Where the NaN began has a cause of its own.
  if (IsOfNan(*match->finding) ? f.forward.has_value()
                               : HasHelped(f.evidence)) {
    return false;
  }
  // Of all but those that do no harm.
  CauseVerdict& verdict = match->verdict;
  ExplainBadSince(f, 0, &verdict);
  verdict.ops.push_back(match->finding->subject.op);
  verdict.grade = EvidenceGrade::kSupported;
  verdict.origin = match->finding->subject;
  verdict.step = match->finding->opened_step;
  return true;
}

void SayFindingAtAnyScale(const Facts& f, Match* match) {
  const char* const lead =
      IsOfNan(*match->finding)
          ? f.scaled ? "An op makes NaN, which no loss scale changes. "
                     : "An op makes NaN. "
          : "The overflow goes on while the scale falls: an op overflows "
            "whatever the scale. ";
  match->Say(lead + match->Quote(*match->finding));
}

}  // namespace nanwatch
