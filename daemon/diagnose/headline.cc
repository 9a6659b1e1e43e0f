#include "diagnose/headline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>

#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// True after so few updates that a rule would not ask whether the search will
// end.
bool NoneGood(const RunEvidence& e) {
  return e.updates > 0 && e.overflows == e.updates && e.applied == 0;
}

std::string Healthy(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.updates == 0) return "no step has been reported yet.";
  const bool none_good = NoneGood(e);
  std::string text;
  text += CountOf(e.updates, e.steps_between ? "recorded step" : "step") +
          OfOptimizer(e);
  if (e.updates_before > 0) {
    text += fmt::format(" since the last restart ({} in all)",
                        e.updates_before + e.updates);
  }
  if (none_good) {
    text += e.updates == 1 ? ", which overflowed" : ", which all overflowed";
    if (e.in_grace) text += ", as the search for a loss scale begins";
  } else if (e.overflows > 0) {
    const int64_t start = ToldAtStartUp(e);
    // Of steps without a record nobody knows, so there is no share to tell.
    text += fmt::format(
        ", {} ({}{})", CountOf(e.overflows, "overflow"),
        e.steps_between ? "as far as shown" : PercentOf(e.overflows, e.updates),
        start > 0 ? fmt::format(", {} of them at the start", start) : "");
  } else if (e.applied > 0 && IsScaled(c)) {
    text += ", no overflow";
  }  // Else nobody said whether there was one.
  if (e.scale_now) text += ", loss scale " + InWords(*e.scale_now);
  // In saturation mode a finite loss proves nothing, so it is not praised.
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  if (e.loss_finite > 0 && e.loss_nonfinite == 0 && !saturates) {
    text += ", the loss is finite";
  }
  text += ".";
  if (e.follows_rewards) {
    text += " It trains on rewards, so no level of its loss is judged.";
  } else if (e.rivals) {
    text +=
        " Its optimizers work against each other, so no level of their "
        "losses is judged.";
  }
  return text;
}

std::string Unsettled(const LossRise& rise) {
  return fmt::format(
      "the newest losses rise from {} to {} since step {}, and there are too "
      "few to tell that from noise.",
      InWords(rise.from), InWords(rise.to), rise.from_step);
}

std::string EarlierIncident(const RunEvidence& e) {
  if (e.earlier_to < 0) return e.earlier;
  return fmt::format("{} It lasted from step {} to {}.", e.earlier,
                     e.earlier_from, e.earlier_to);
}

// Returns the first cause that is over and was worth a warning; absent
// without one.
std::optional<int32_t> FirstThatIsOver(const Facts& f,
                                       const Diagnosis& diagnosis) {
  for (size_t i = 0; i < diagnosis.causes.size(); ++i) {
    const CauseVerdict& cause = diagnosis.causes[i];
    const bool now = f.found.Any(
        [&](const Finding& finding) { return Explains(cause, finding); });
    if (!now && cause.ceiling > Severity::kInfo) return static_cast<int32_t>(i);
  }
  return std::nullopt;
}

// Returns the condition of a run with a note: one that applies nothing is not
// called healthy.
Condition ConditionWithNote(const RunEvidence& e) {
  const bool stands =
      e.updates_last_50 > 0 && e.skipped_last_50 == e.updates_last_50;
  if (!stands && e.unsettled) return Condition::kUnsettled;
  if (!stands) return Condition::kNoted;
  if (!e.in_grace) return Condition::kNotLearning;
  // Calibration may end by itself: not yet a fault.
  return e.first_good_step < 0 ? Condition::kNothingApplied : Condition::kNoted;
}

std::string_view Lead(Condition condition) {
  switch (condition) {
    case Condition::kNoted:
      return "Healthy, with a note: ";
    case Condition::kNotLearning:
      return "Not learning now: ";
    case Condition::kNothingApplied:
      return "No update applied yet: ";
    case Condition::kUnsettled:
      return "Too little to judge: ";
    case Condition::kHeld:
      return "Not found any more, but alerted still: ";
    case Condition::kHealed:
      return "Healthy now. Earlier: ";
    case Condition::kHealthy:
      return "Healthy: ";
    case Condition::kNoStepYet:
      return "Healthy so far: ";
    case Condition::kTrouble:
    case Condition::kNotKnown:
      break;
  }
  return "";
}

void Set(Condition condition, const std::string& words, Diagnosis* diagnosis) {
  diagnosis->condition = condition;
  diagnosis->headline_lead = Lead(condition);
  diagnosis->headline = diagnosis->headline_lead + words;
}

void SetCause(Condition condition, int32_t cause, Diagnosis* diagnosis) {
  diagnosis->headline_cause = cause;
  Set(condition, diagnosis->causes[static_cast<size_t>(cause)].sentence,
      diagnosis);
}

}  // namespace

void SetHealthyHeadline(const Case& c, Diagnosis* diagnosis) {
  if (c.evidence.unsettled) {
    return Set(Condition::kUnsettled, Unsettled(*c.evidence.unsettled),
               diagnosis);
  }
  const Condition condition = NoneGood(c.evidence) ? Condition::kNothingApplied
                              : c.evidence.updates == 0 ? Condition::kNoStepYet
                                                        : Condition::kHealthy;
  Set(condition, Healthy(c), diagnosis);
}

void SetHeadline(const Facts& f, bool known_better, bool first_is_memory,
                 Diagnosis* diagnosis) {
  const RunEvidence& e = f.evidence;
  Severity worst = Severity::kNone;
  for (const Finding& finding : f.found) {
    worst = std::max(worst, UnderCeiling(*diagnosis, finding));
  }
  if (worst > Severity::kInfo) {
    return SetCause(Condition::kTrouble, 0, diagnosis);
  }
  // An alert is held a while, lest it comes back: not yet called healthy.
  const Condition over = !e.earlier.empty() && e.earlier_to < 0
                             ? Condition::kHeld
                             : Condition::kHealed;
  if (!known_better) {
    const std::optional<int32_t> cause = FirstThatIsOver(f, *diagnosis);
    if (cause) return SetCause(over, *cause, diagnosis);
    if (!e.earlier.empty()) {
      if (first_is_memory) diagnosis->headline_cause = 0;
      return Set(over, EarlierIncident(e), diagnosis);
    }
  }
  if (worst == Severity::kInfo) {
    return SetCause(ConditionWithNote(e), 0, diagnosis);
  }
  SetHealthyHeadline(f, diagnosis);
}

}  // namespace nanwatch
