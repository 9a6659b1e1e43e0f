// Collapse: the scale has fallen so far that small gradients become zero; or
// overflows go on at the floor, and no update is applied any more.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnose/cause_form.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"
#include "model/op.h"
#include "model/scale_bound.h"
#include "scaler/headroom.h"

namespace nanwatch {
namespace {

using enum RuleId;

// Updates; ours. What is critical anywhere is a row of 16.
constexpr uint64_t kCertain = 8;

// ------------------------------------------------------------------ decides

// Returns the first step of the trouble: what is found says it better than the
// first overflow, which may have been a probe of long ago.
int64_t Since(const Facts& f, const RuleSet& rules) {
  const Finding* streak = f.found.First(kOverflowStreak);
  if (streak != nullptr) return streak->opened_step;
  const Finding* first = f.found.First(rules);
  // Where nothing ever went well, it began with the first update.
  const bool never_good = f.evidence.first_good_step < 0;
  if (first != nullptr && !never_good) return first->opened_step;
  return std::max<int64_t>(f.evidence.first_overflow_step, 0);
}

// Returns the first step of all: the fall, or another rule's streak, may have
// begun before that of the rule on overflows in a row.
int64_t SinceTheFirst(const Facts& f, const RuleSet& rules, int64_t step) {
  for (const Finding& finding : f.found) {
    if (rules.has(finding.rule) && finding.family == Family::kScale &&
        finding.severity > Severity::kInfo) {
      step = std::min(step, finding.opened_step);
    }
  }
  return step;
}

// Returns the scale that it fell from. A search begins at scales that nothing
// ever worked at: no fall from there.
double Top(const RunEvidence& e) {
  return e.scale_worked.value_or(*e.scale_max);
}

bool Fell(const Facts& f) {
  return *f.evidence.scale_now * f.at.collapse_ratio <= Top(f.evidence);
}

bool Underflows(const Facts& f) {
  return f.evidence.underflow_fraction.value_or(0) > f.at.vanishes;
}

// Overflows in a row.
struct Row {
  int64_t updates = 0;
  int64_t from = 0;  // step
};

// Returns the longest that the rule counted; the evidence forgets after 50.
// `from`: of one that no rule counted.
Row LongestRow(const Facts& f, int64_t from) {
  Row longest = {static_cast<int64_t>(f.evidence.overflow_streak), from};
  if (!f.found.has(kOverflowStreak)) return longest;
  for (const Finding& finding : f.found) {
    if (finding.rule != kOverflowStreak) continue;
    const auto updates =
        static_cast<int64_t>(NumberOf(finding, "streak").value_or(0));
    if (updates < longest.updates) continue;
    longest = {updates,
               static_cast<int64_t>(NumberOf(finding, "streak_from")
                                        .value_or(static_cast<double>(from)))};
  }
  return longest;
}

// True when no op and no NaN loss is the better cause.
bool IsAlone(const Facts& f, const Matches& before) {
  constexpr uint64_t kOps =
      Bit(Form::kPaddingCounted) | Bit(Form::kMask) |
      Bit(Form::kPaddingPossible) | Bit(Form::kNanAtAnyScale) |
      Bit(Form::kOpAtAnyScale) | Bit(Form::kFindingAtAnyScale);
  return f.evidence.loss_nonfinite == 0 && !f.forward &&
         before.FirstOf(kOps) == nullptr;
}

// True when the scaler was seen to move; or it stands where nobody would put
// it, and overflows there, or learns nothing.
bool Falls(const Facts& f) {
  return f.evidence.scaler_dynamic ||
         (*f.evidence.scale_now < 1 && f.found.has(kScaleBelowOne));
}

// True when the loss is not finite, and all of this followed: no second
// trouble.
bool IsOfNan(const Facts& f, const Matches& before,
             const CauseVerdict& verdict) {
  if (f.evidence.loss_nonfinite == 0) return false;
  const Match* nan =
      before.FirstOf(Bit(Form::kWeightsSpoilt) | Bit(Form::kNanFromOp) |
                     Bit(Form::kNanFromLoss));
  return nan != nullptr && !f.found.Any([&](const Finding& finding) {
    return Explains(verdict, finding) && !Explains(nan->verdict, finding);
  });
}

bool WhenCollapsed(const Facts& f, const Matches& before, Match* match) {
  const RunEvidence& e = f.evidence;
  if (f.unseen || !e.scale_now || !e.scale_max || IsNoScale(e) || !Falls(f)) {
    return false;
  }
  const bool low = IsAtTheFloor(e);
  const bool lately = Underflows(f) || e.overflows_last_50 > 0;
  if (!low && !(Fell(f) && lately)) return false;
  CauseVerdict& verdict = match->verdict;
  if (IsOfNan(f, before, verdict)) return false;
  const bool certain =
      (Underflows(f) && Fell(f)) ||
      (f.stuck && e.overflow_streak >= kCertain && IsAlone(f, before));
  verdict.grade = certain ? EvidenceGrade::kEstablished
                  : low   ? EvidenceGrade::kSupported
                          : EvidenceGrade::kHypothesis;
  verdict.step = Since(f, verdict.rules);
  verdict.rule = f.HeadOfScale(verdict.rules);
  return true;
}

// True when it is stuck, and an update fits now and then.
bool OneFits(const Facts& f, const Match& match) {
  const RunEvidence& e = f.evidence;
  if (!f.stuck) return false;
  const int64_t steps = e.last_step - Since(f, match.verdict.rules) + 1;
  return e.overflows_last_50 < e.updates_last_50 &&
         (e.overflow_streak < f.at.floor_streak ||
          2 * LongestRow(f, 0).updates < steps);
}

// --------------------------------------------------------------------- says

std::string Lost(double scale, Tense tense) {
  const std::string_view is = In(tense, "is", "was");
  if (scale <= 0) return fmt::format("every gradient {} lost", is);
  const double least = MinSubnormal(Dtype::kFp16) / scale;
  // Above the largest number of fp16 there are none.
  return least > MaxFinite(Dtype::kFp16)
             ? fmt::format("in fp16 every gradient {} lost", is)
             : fmt::format("in fp16 gradients below {} {} lost", InWords(least),
                           In(tense, "are", "were"));
}

std::string HowItFell(const RunEvidence& e, std::string_view is) {
  if (Top(e) <= *e.scale_now) {
    return fmt::format("{} {}", is, InWords(*e.scale_now));
  }
  return "fell from " + InWords(Top(e)) + " to " + InWords(*e.scale_now);
}

// Says what comes of a scale that is printed as 0: its number is not known.
std::string OfPrintedZero(const Facts& f, Tense tense) {
  return f.found.has(kLossNotDecreasing)
             ? fmt::format(", and the loss {} moved since: nothing {} learned",
                           In(tense, "has not", "had not"),
                           In(tense, "is", "was"))
             : fmt::format(": gradients {} lost", In(tense, "are", "were"));
}

// Says that a scale is so low, which is telling.
void SayOfSize(const RunEvidence& e, Match* match) {
  if (BoundOf(*e.scale_now)) return;
  match->Support(EvidenceGrade::kEstablished,
                 WhatOverflows(*e.scale_now, "at this scale", "the scale"));
}

// Returns the same where steps lie between the records: one of them may have
// gone through.
std::string AgainAndAgain(bool skipped, Tense tense) {
  const char* const to = tense == Tense::kPast ? "from" : "since";
  return skipped ? fmt::format("Updates {} skipped again and again {}",
                               In(tense, "have been", "were"), to)
                 : fmt::format("Updates {} again and again {}",
                               In(tense, "have overflowed", "overflowed"), to);
}

// Returns what becomes of updates where now and then one goes through.
std::string MostUpdates(const RunEvidence& e, bool skipped, Tense tense) {
  if (LeavesStepsOut(e)) return AgainAndAgain(skipped, tense);
  const char* const to = tense == Tense::kPast ? "from" : "since";
  if (!skipped) {
    return fmt::format("Most updates {} {}",
                       In(tense, "have overflowed", "overflowed"), to);
  }
  return 10 * e.overflows_last_50 >= 9 * e.updates_last_50
             ? fmt::format("Hardly any update {} applied {}",
                           In(tense, "has been", "was"), to)
             : fmt::format("Most updates {} skipped {}",
                           In(tense, "have been", "were"), to);
}

// Returns "No update has been applied since", "Every update of the optimizer D
// has overflowed since".
std::string NoUpdate(const RunEvidence& e, bool skipped, Tense tense) {
  if (e.steps_between) return AgainAndAgain(skipped, tense);
  const std::string of = OfOptimizer(e);
  const char* const to = tense == Tense::kPast ? "from" : "since";
  return skipped ? fmt::format("No update{} {} applied {}", of,
                               In(tense, "has been", "was"), to)
                 : fmt::format("Every update{} {} {}", of,
                               In(tense, "has overflowed", "overflowed"), to);
}

std::string_view LowerDoesNotHelp(Tense tense) {
  return In(tense, "A lower scale does not help.",
            "A lower scale did not help.");
}

void SayOfLoss(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  if (e.loss_finite_while_overflow == 0 || e.loss_nonfinite > 0 ||
      f.run.overflow_mode == OverflowMode::kSaturation) {
    return;
  }
  match->Support(
      EvidenceGrade::kSupported,
      "The loss is finite meanwhile, so it begins in the backward pass.");
}

void SayOfUnderflow(const RunEvidence& e, Match* match) {
  // Next to none is no sign of it.
  if (e.underflow_fraction.value_or(0) <= kUnderflowAllowed) return;
  match->Support(EvidenceGrade::kEstablished,
                 fmt::format("{:.3g} % of the gradient elements underflow.",
                             100 * *e.underflow_fraction));
}

bool AreSkipped(const RunEvidence& e) {
  return e.skipped_last_50 >= e.overflows_last_50;
}

// Returns " The loss rose from 4.1 to 6.3 first, at step 10206."; empty where
// it did not.
std::string AfterRise(const Facts& f, int64_t step) {
  const auto& rise = f.evidence.stands_out;
  if (!rise || rise->from_step > step) return "";
  return fmt::format(" The loss rose from {} to {} first, at step {}.",
                     InWords(rise->from), InWords(rise->to), rise->from_step);
}

void SayMoreOfStuck(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  SayOfSize(e, match);
  if (e.skipped > e.overflow_streak && !e.steps_between) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format("{} of {} {}updates{} were skipped.", e.skipped, e.updates,
                    e.steps_counted ? "recorded " : "", OfOptimizer(e)));
  }
  SayOfLoss(f, match);
  SayOfUnderflow(e, match);
}

}  // namespace

// True when a counter of skipped steps shows it, and no scale.
bool WhenCollapseUnseen(const Facts& f, const Matches& before, Match* match) {
  if (!f.unseen || !f.stuck || !IsAlone(f, before)) return false;
  CauseVerdict& verdict = match->verdict;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.step = Since(f, verdict.rules);
  verdict.rule = f.HeadOfScale(verdict.rules);
  return true;
}

void SayCollapseUnseen(const Facts& f, Match* match) {
  const Row row = LongestRow(f, match->verdict.step);
  match->Say(InBothTenses([&](Tense tense) {
    return fmt::format(
        "{} step {}: {} {}. Which loss scale they had is not known; one that "
        "falls with each of them has long been at its floor. {}",
        NoUpdate(f.evidence, true, tense), row.from, row.updates,
        f.evidence.steps_between
            ? "recorded steps in a row show skipped updates"
            : "updates in a row were skipped",
        LowerDoesNotHelp(tense));
  }));
  SayOfLoss(f, match);
}

// True when it fell, and an update fits now and then.
bool WhenCollapseMostly(const Facts& f, const Matches& before, Match* match) {
  if (!OneFits(f, *match) || !WhenCollapsed(f, before, match)) return false;
  CauseVerdict& verdict = match->verdict;
  verdict.step = SinceTheFirst(f, verdict.rules, verdict.step);
  return true;
}

void SayCollapseMostly(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  match->Say(InBothTenses([&](Tense tense) {
    return fmt::format(
        "{} step {}: {} of the last {}{} {}, though the loss scale {}. {}",
        MostUpdates(e, AreSkipped(e), tense), match->verdict.step,
        e.overflows_last_50, e.updates_last_50, OfOptimizer(e),
        LeavesStepsOut(e) ? StepsOverflowed(e) : "overflowed",
        HowItFell(e, "is"), LowerDoesNotHelp(tense));
  }));
  SayMoreOfStuck(f, match);
}

bool WhenCollapseStuck(const Facts& f, const Matches& before, Match* match) {
  return f.stuck && !OneFits(f, *match) && WhenCollapsed(f, before, match);
}

void SayCollapseStuck(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const Row row = LongestRow(f, match->verdict.step);
  // A log with a gap tells of more updates than its lines have steps.
  const bool before = row.updates > e.last_step - row.from + 1;
  match->Say(InBothTenses([&](Tense tense) {
    return fmt::format("{} {}step {}: {} {}, though the loss scale {}. {}{}",
                       NoUpdate(e, AreSkipped(e), tense),
                       before ? "before " : "", row.from, row.updates,
                       e.steps_between
                           ? "recorded steps in a row show overflows"
                           : "updates in a row overflowed",
                       HowItFell(e, "is"), LowerDoesNotHelp(tense),
                       AfterRise(f, match->verdict.step));
  }));
  SayMoreOfStuck(f, match);
}

bool WhenCollapseLow(const Facts& f, const Matches& before, Match* match) {
  return !f.stuck && WhenCollapsed(f, before, match);
}

void SayCollapseLow(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  match->Say(InBothTenses([&](Tense tense) {
    return fmt::format(
        "The loss scale {}{}.", HowItFell(e, In(tense, "is", "was")),
        BoundOf(*e.scale_now) ? OfPrintedZero(f, tense)
                              : ": " + Lost(*e.scale_now, tense));
  }));
  if (e.updates_to_floor && !IsAtTheFloor(e)) {
    match->Support(EvidenceGrade::kSupported,
                   fmt::format("At this rate the floor is reached in {} {}.",
                               *e.updates_to_floor, StepsInWords(e)));
  }
  if (*e.scale_now <= f.at.tiny_scale && e.overflows_last_50 > 0) {
    SayOfSize(e, match);
  }
  const std::string updates = UpdatesInWords(e);
  if (!updates.empty()) {
    match->Support(EvidenceGrade::kEstablished, updates + ".");
  }
  SayOfUnderflow(e, match);
}

}  // namespace nanwatch
