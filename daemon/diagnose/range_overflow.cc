// Ordinary fp16 range overflow: gradients times scale leave the range, the
// scaler steps down, and they fit again. The scaler's job.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnose/cause_form.h"
#include "diagnose/consequences.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

constexpr RuleSet kFloor = {kScaleAtFloor, kScaleBelowOne};
constexpr RuleSet kFalls = {kScaleCollapse, kOverflowStreak};

// True for few overflows: what the scaler is there for. Those of the descent to
// the first good step are start-up and do not count: all updates before it
// overflowed.
bool FewOverflows(const Facts& f) {
  const RunEvidence& e = f.evidence;
  if (e.first_good_step < 0) return false;
  const int64_t since = e.last_step - e.first_good_step + 1;
  const int64_t startup =
      std::max<int64_t>(0, static_cast<int64_t>(e.updates_last_50) - since);
  return static_cast<int64_t>(e.overflows_last_50) - startup <= f.at.streak;
}

// True when the op stopped being bad when the scale was lower. A gradient that
// is bad just now, after few overflows, waits for the scaler's answer: some
// answer only the second overflow.
bool WentWithTheScale(const Facts& f, const OpEvidence& op) {
  const RunEvidence& e = f.evidence;
  if (op.clean_statuses > 0 && !IsBadNow(op, e)) return true;
  if (!IsForward(op) && op.nan == 0 && FewOverflows(f)) return true;
  return op.clean_statuses > 0 && op.scale_min && e.scale_now &&
         *e.scale_now <= *op.scale_min;
}

// True when it was bad only while a NaN went through the forward pass: that
// one's doing.
bool CameWithNan(const Facts& f, const OpEvidence& op) {
  return std::any_of(f.evidence.ops.begin(), f.evidence.ops.end(),
                     [&](const OpEvidence& other) {
                       return IsForward(other) && other.nan > 0 &&
                              !f.IsHarmless(other) &&
                              op.first_bad_step >= other.first_bad_step &&
                              op.last_bad_step <= other.last_bad_step;
                     });
}

// True when what took the scale to its floor goes on there: it is one trouble,
// that of the collapse. So is a scale that stays below 1.
bool GoesOnAtTheFloor(const Facts& f) {
  const bool below = f.evidence.scale_now.value_or(1) < 1;
  if (below && f.found.has(kScaleBelowOne)) return true;
  return IsAtTheFloor(f.evidence) &&
         (f.found.worst(kScaleAtFloor) == Severity::kCritical ||
          f.found.worst(kScaleBelowOne) == Severity::kCritical);
}

// Takes ops that left the range with the scale. False when one of them has
// another reason.
bool TakeOps(const Facts& f, bool* all_went, CauseVerdict* verdict) {
  const RunEvidence& e = f.evidence;
  for (const OpEvidence& op : e.ops) {
    if (f.IsHarmless(op) || CameWithNan(f, op)) continue;
    if (f.IsBadAtEveryScale(op) && !(IsGradient(op) && HasHelped(e))) {
      return false;
    }
    if (IsBadNow(op, e) && OverflowsUnscaled(op, e)) return false;
    *all_went = *all_went && WentWithTheScale(f, op);
    verdict->ops.push_back(op.op.name);
  }
  return !e.ops_collected || !verdict->ops.empty();
}

// True when nothing speaks for another reason of the overflows than the scale's
// height. `ops_tell`: ops do that became clean with it.
bool IsOfTheScale(const Facts& f, bool ops_tell) {
  const RunEvidence& e = f.evidence;
  // A scale at which gradients fit and many of them vanish was not lowered by
  // ordinary ones.
  const bool vanish = e.underflow_fraction.value_or(0) > f.at.vanishes;
  // Where losses were not finite from the first overflow on, and no op tells
  // more, the scale may have had nothing to do with it.
  const bool nan_loss = e.loss_nonfinite > 0 && !ops_tell &&
                        e.first_overflow_step >= e.first_nonfinite_loss_step;
  return !vanish && !nan_loss;
}

// True when the overflows were those of the search of the start, which is over,
// or of a loss that jumped, and no finding of them is left.
bool IsOver(const Facts& f, const CauseVerdict& verdict) {
  const bool told = StartUpIsOver(f.evidence) || !f.with_the_loss.empty();
  return told && !f.found.Any([&](const Finding& finding) {
    return Explains(verdict, finding);
  });
}

bool IsOrdinary(const Facts& f, const CauseVerdict& verdict) {
  return verdict.grade == EvidenceGrade::kEstablished &&
         !f.found.HasAny(kBurst);
}

// Returns the fall where a log that shows a step in ten shows it and no
// overflow; null where it shows some.
const Finding* FallWithoutOverflow(const Facts& f) {
  if (f.evidence.overflows > 0) return nullptr;
  for (const Finding& finding : f.found) {
    if (finding.rule == kScaleCollapse) return &finding;
  }
  return nullptr;
}

// Returns the sentence. Few are the scaler's job; many are gradients that have
// grown.
std::string SentenceOf(const Facts& f, bool ordinary, Tense tense) {
  const RunEvidence& e = f.evidence;
  const std::string scale =
      e.scale_now ? InWords(*e.scale_now) : "not reported";
  if (const Finding* fall = FallWithoutOverflow(f)) {
    return "Gradients outgrew the loss scale, though no overflow is "
           "reported: " +
           fall->sentence;
  }
  if (ordinary) {
    const int64_t start = ToldAtStartUp(e);
    return fmt::format(
        "Ordinary overflows: {} of {} {}{}, {} of the last {}. The scaler "
        "answered them; the scale is {}.",
        e.overflows, e.updates, StepsInWords(e),
        start > 0
            ? fmt::format(" ({} of them before the first good one)", start)
            : "",
        e.overflows_last_50, e.updates_last_50, scale);
  }
  // It is over, whatever windows still remember of it.
  if (e.overflows_last_50 == 0) {
    return fmt::format(
        "Gradients outgrew the loss scale: {} of {} {}, none of the last {}; "
        "the scale is {}.",
        e.overflows, e.updates, StepsOverflowed(e), e.updates_last_50, scale);
  }
  if (e.first_good_step >= 0 && FewOverflows(f)) {
    return fmt::format(
        "Gradients outgrew the loss scale: {} of {} {}, {} of them among the "
        "last {}; the scale is {}.",
        e.overflows, e.updates, StepsOverflowed(e), e.overflows_last_50,
        e.updates_last_50, scale);
  }
  return fmt::format(
      "Gradients {} the loss scale: {} of the last {} {} ({} of {} in all), "
      "more than a scaler's probing makes; the scale is {}.",
      In(tense, "outgrow", "outgrew"), e.overflows_last_50, e.updates_last_50,
      StepsOverflowed(e), e.overflows, e.updates, scale);
}

}  // namespace

bool WhenRangeOverflow(const Facts& f, const Matches&, Match* match) {
  const RunEvidence& e = f.evidence;
  if (f.of_outliers || (!e.scaler_dynamic && !f.unseen)) {
    return false;
  }
  if (e.good_steps == 0 || f.beyond_probing || GoesOnAtTheFloor(f)) {
    return false;
  }
  const bool fell =
      f.found.has(kScaleCollapse) && !f.found.has(kScaleDiscontinuity);
  if (e.overflows == 0 && !fell) return false;
  CauseVerdict& verdict = match->verdict;
  bool all_went = true;
  if (!TakeOps(f, &all_went, &verdict)) return false;
  ExplainUnlisted(f, 0, &verdict);
  const bool few = e.overflows > 0 && FewOverflows(f);
  verdict.grade = few && all_went && IsOfTheScale(f, !verdict.ops.empty())
                      ? EvidenceGrade::kEstablished
                      : EvidenceGrade::kSupported;
  // It may end at the floor, where they fit.
  if (IsAtTheFloor(e) && f.found.HasAny(kBurst)) verdict.rules |= kFloor;
  // Fewer halvings would not have done.
  if (HasHelped(e)) verdict.rules.Add(kOverflowNotScaleDependent);
  verdict.rules -= f.with_the_loss | f.after_the_loss;
  if (IsOver(f, verdict)) return false;
  if (verdict.grade == EvidenceGrade::kEstablished) {
    verdict.ceiling = Severity::kInfo;
    // That the scale falls too far or too often stays what it is.
    verdict.uncapped = verdict.rules & (kFloor | kBurst);
  }
  verdict.rule = f.HeadOfScale(verdict.rules);
  verdict.step = std::max<int64_t>(e.first_overflow_step, 0);
  if (!IsOrdinary(f, verdict)) {
    for (const Finding& finding : f.found) {
      if (kFalls.has(finding.rule) && Explains(verdict, finding)) {
        verdict.step = finding.opened_step;
      }
    }
  }
  return true;
}

void SayRangeOverflow(const Facts& f, Match* match) {
  const std::vector<std::string>& ops = match->verdict.ops;
  const bool ordinary = IsOrdinary(f, match->verdict);
  if (const Finding* fall = FallWithoutOverflow(f)) match->Quote(*fall);
  match->Say(InBothTenses(
      [&](Tense tense) { return SentenceOf(f, ordinary, tense); }));
  const bool all_went = std::all_of(
      f.evidence.ops.begin(), f.evidence.ops.end(), [&](const OpEvidence& op) {
        return f.IsHarmless(op) || CameWithNan(f, op) ||
               WentWithTheScale(f, op);
      });
  if (ops.empty() || !all_went) return;
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format(
          "{} bad and became clean as the scale fell, {} first.",
          ops.size() == 1 ? "1 op was" : CountOf(ops.size(), "op") + " were",
          ops[0]));
}

}  // namespace nanwatch
