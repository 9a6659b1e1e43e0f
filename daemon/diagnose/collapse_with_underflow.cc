// Collapse: the scale has fallen so far that small gradients become zero; or
// overflows go on at the floor, and no update is applied any more.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

#include "diagnose/causes.h"
#include "diagnose/first_found.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"
#include "scaler/headroom.h"

namespace nanwatch {
namespace {

constexpr double kMaxHalf = 65504;
constexpr double kMinSubnormal = 0x1p-24;
constexpr double kUnderflow = 0.10;  // rule 31
constexpr RuleId kBelowOne = RuleId::kScaleBelowOne;
constexpr RuleId kStreakRule = RuleId::kOverflowStreak;
constexpr RuleSet kRules = {
    RuleId::kScaleAtFloor,         RuleId::kScaleBelowOne,
    RuleId::kScaleUnrepresentable, RuleId::kScaleCollapse,
    RuleId::kOverflowStreak,       RuleId::kOverflowRate,
    RuleId::kNeverCalibrated,      RuleId::kScaleLimitCycle,
    RuleId::kGradVanishing,        RuleId::kUnderflowMeasured,
    RuleId::kUnderflowPredicted,   RuleId::kLossNotDecreasing,
    RuleId::kWeightUnchanged};

// The first step of the trouble: what is found says it better than the first
// overflow, which may have been a probe of long ago.
int64_t Since(const Case& c) {
  const Finding* streak = FirstFound(
      c.findings, [](const Finding& f) { return f.rule == kStreakRule; });
  if (streak != nullptr) return streak->opened_step;
  const Finding* first = FirstFound(c.findings, [](const Finding& finding) {
    return kRules.has(finding.rule);
  });
  // Where nothing ever went well, it began with the first attempt.
  const bool never_good = c.evidence.first_good_step < 0;
  if (first != nullptr && !never_good) return first->opened_step;
  return std::max<int64_t>(c.evidence.first_overflow_step, 0);
}

std::string Lost(double scale) {
  if (scale <= 0) return "every gradient is lost";
  const double least = kMinSubnormal / scale;
  // Above the largest number of fp16 there are none.
  return least > kMaxHalf
             ? "in fp16 every gradient is lost"
             : "in fp16 gradients below " + InWords(least) + " are lost";
}

// A search begins at scales that nothing ever worked at: no fall from there.
double Top(const RunEvidence& e) {
  return e.scale_worked.value_or(*e.scale_max);
}

std::string Fell(const RunEvidence& e) {
  if (Top(e) <= *e.scale_now) return "is " + InWords(*e.scale_now);
  return "fell from " + InWords(Top(e)) + " to " + InWords(*e.scale_now);
}

// As rule 5 counts them; the evidence forgets after 50.
int64_t LongestStreak(const Case& c) {
  double longest = 0;
  for (const Finding& finding : c.findings) {
    if (finding.rule != kStreakRule) continue;
    longest = std::max(longest, NumberOf(finding, "streak").value_or(0));
  }
  return static_cast<int64_t>(longest);
}

// That a scale is so low is telling; that it is nearly 0 says nothing more.
void SayOfSize(const RunEvidence& e, CauseVerdict* verdict) {
  constexpr double kLeast = 0x1p-30;
  if (*e.scale_now < kLeast) return;
  verdict->evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format("What overflows at this scale is above {} without any "
                   "scaling, or infinite, or NaN: the scale does not make "
                   "it.",
                   InWords(kMaxHalf / *e.scale_now))});
}

// The fall, or another rule's streak, may have begun before rule 5's.
int64_t SinceTheFirst(const Case& c, int64_t step) {
  for (const Finding& finding : c.findings) {
    const bool of_scale =
        kRules.has(finding.rule) && finding.family == Family::kScale;
    if (of_scale && finding.severity > Severity::kInfo) {
      step = std::min(step, finding.opened_step);
    }
  }
  return step;
}

// What becomes of updates where now and then one goes through.
std::string_view MostUpdates(const RunEvidence& e, bool skipped) {
  if (!skipped) return "Most attempts overflow";
  return 10 * e.overflows_last_50 >= 9 * e.attempts_last_50
             ? "Hardly any update is applied"
             : "Most updates are skipped";
}

void SayOfLoss(const Case& c, CauseVerdict* verdict) {
  const RunEvidence& e = c.evidence;
  if (e.loss_finite_while_overflow == 0 || e.loss_nonfinite > 0 ||
      c.run.overflow_mode == OverflowMode::kSaturation) {
    return;
  }
  verdict->evidence.push_back(
      {EvidenceGrade::kSupported,
       "The loss is finite meanwhile: it begins in the backward pass."});
}

void SayStuck(const Case& c, CauseVerdict* verdict) {
  const RunEvidence& e = c.evidence;
  const bool skipped = e.skipped_last_50 >= e.overflows_last_50;
  const auto streak =
      std::max(static_cast<int64_t>(e.overflow_streak), LongestStreak(c));
  // A log with a gap tells of more attempts than its lines have steps.
  const int64_t since = e.last_step - verdict->step + 1;
  const char* const lower = "where a lower one helps nobody";
  // Now and then one fits.
  constexpr uint64_t kStreak = 3;  // rule 1
  if (e.overflows_last_50 < e.attempts_last_50 &&
      (e.overflow_streak < kStreak || 2 * streak < since)) {
    verdict->step = SinceTheFirst(c, verdict->step);
    verdict->sentence = fmt::format(
        "{} since step {}: {} of the last {}{} overflowed, though the loss "
        "scale {}, {}.",
        MostUpdates(e, skipped), verdict->step, e.overflows_last_50,
        e.attempts_last_50, OfOptimizer(e), Fell(e), lower);
  } else {
    verdict->sentence = fmt::format(
        "{} since {}step {}: {} attempts in a row overflowed, though the loss "
        "scale {}, {}.",
        (skipped ? "No update" : "Every attempt") + OfOptimizer(e) +
            (skipped ? " is applied" : " overflows"),
        streak > since ? "before " : "", verdict->step, streak, Fell(e), lower);
  }
  SayOfSize(e, verdict);
  if (e.skipped > e.overflow_streak) {
    verdict->evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{} of {} updates{} were skipped.", e.skipped, e.attempts,
                     OfOptimizer(e))});
  }
  SayOfLoss(c, verdict);
}

// No op and no NaN loss is the better cause.
bool IsAlone(const Case& c) {
  return c.evidence.loss_nonfinite == 0 && !HarmlessPadding(c) &&
         !NanFromForward(c) && !ScaleIndependentOp(c);
}

// The scaler was seen to move; or it stands where nobody would put it, and
// overflows there, or learns nothing.
bool Falls(const Case& c) {
  const RunEvidence& e = c.evidence;
  return e.scaler_dynamic ||
         (*e.scale_now < 1 &&
          std::any_of(c.findings.begin(), c.findings.end(),
                      [](const Finding& f) { return f.rule == kBelowOne; }));
}

// The loss is not finite, and all of this followed: no second trouble.
bool IsOfNan(const Case& c, const CauseVerdict& verdict) {
  if (c.evidence.loss_nonfinite == 0) return false;
  const std::optional<CauseVerdict> nan = NanFromForward(c);
  return nan && std::all_of(c.findings.begin(), c.findings.end(),
                            [&](const Finding& finding) {
                              return !Explains(verdict, finding) ||
                                     Explains(*nan, finding);
                            });
}

void SayLow(const Case& c, bool low, CauseVerdict* verdict) {
  const RunEvidence& e = c.evidence;
  verdict->sentence =
      fmt::format("The loss scale {}: {}.", Fell(e), Lost(*e.scale_now));
  if (e.attempts_to_floor && !low) {
    verdict->evidence.push_back(
        {EvidenceGrade::kSupported,
         fmt::format("At this rate the floor is reached in {} steps.",
                     *e.attempts_to_floor)});
  }
  if (*e.scale_now <= kTinyScale && e.overflows_last_50 > 0)
    SayOfSize(e, verdict);
  const std::string updates = UpdatesInWords(e);
  if (!updates.empty()) {
    verdict->evidence.push_back(
        {EvidenceGrade::kEstablished, "Also: " + updates + "."});
  }
}

// A counter of skipped steps shows it, and no scale.
std::optional<CauseVerdict> CollapseUnseen(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!IsStuck(c) || !IsAlone(c)) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kCollapseWithUnderflow;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.rules = kRules;
  verdict.step = Since(c);
  verdict.rule = HeadOfScale(c, kRules);
  verdict.sentence = fmt::format(
      "No update{} is applied since step {}: {} attempts in a row were "
      "skipped. "
      "No loss scale is reported; one that falls with each of them is at its "
      "floor since long, where a lower one helps nobody.",
      OfOptimizer(e), verdict.step,
      std::max(static_cast<int64_t>(e.overflow_streak), LongestStreak(c)));
  SayOfLoss(c, &verdict);
  return verdict;
}

}  // namespace

std::optional<CauseVerdict> CollapseWithUnderflow(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (IsUnseen(c)) return CollapseUnseen(c);
  if (!e.scale_now || !e.scale_max || IsNoScale(e) || !Falls(c)) {
    return std::nullopt;
  }
  constexpr double kCollapse = 256;  // rule 4
  constexpr uint64_t kCertain = 8;   // attempts; C of rule 5 is 16 anywhere
  const bool low = IsAtTheFloor(e);
  const bool fell = *e.scale_now * kCollapse <= Top(e);
  const bool underflows = e.underflow_fraction.value_or(0) > kUnderflow;
  if (!low && !(fell && (underflows || e.overflows_last_50 > 0))) {
    return std::nullopt;
  }
  const bool stuck = IsStuck(c);
  const bool certain = (underflows && fell) ||
                       (stuck && e.overflow_streak >= kCertain && IsAlone(c));
  CauseVerdict verdict;
  verdict.cause = Cause::kCollapseWithUnderflow;
  verdict.grade = certain ? EvidenceGrade::kEstablished
                  : low   ? EvidenceGrade::kSupported
                          : EvidenceGrade::kHypothesis;
  verdict.rules = kRules;
  if (IsOfNan(c, verdict)) return std::nullopt;
  verdict.step = Since(c);
  verdict.rule = HeadOfScale(c, kRules);
  if (stuck) {
    SayStuck(c, &verdict);
  } else {
    SayLow(c, low, &verdict);
  }
  // Next to none is no sign of it.
  if (e.underflow_fraction.value_or(0) > kUnderflowAllowed) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{:.3g} % of the gradient elements underflow.",
                     100 * *e.underflow_fraction)});
  }
  return verdict;
}

}  // namespace nanwatch
