#include "diagnose/headline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

#include "diagnose/scale_facts.h"
#include "diagnose/words.h"
#include "scaler/catalog.h"

namespace nanwatch {
namespace {

// True after so few updates that a rule would not ask whether the search will
// end.
bool NoneGood(const RunEvidence& e) {
  return e.updates > 0 && e.overflows == e.updates && e.applied == 0;
}

// Returns what the run's settings call its loss; "": nothing.
std::string_view KindOfLoss(const Case& c) {
  const auto loss = c.run.settings.find("loss");
  return loss == c.run.settings.end() ? "" : std::string_view(loss->second);
}

std::string Healthy(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.updates == 0) return "no step has been reported yet.";
  const bool none_good = NoneGood(e);
  std::string text;
  text += CountOf(e.updates, StepInWords(e)) + OfOptimizer(e);
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
        LeavesStepsOut(e) ? "as far as shown"
                          : PercentOf(e.overflows, e.updates),
        start > 0 ? fmt::format(", {} of them at the start", start) : "");
  } else if (e.applied > 0 && IsScaled(c)) {
    text += ", no overflow";
  }  // Else nobody said whether there was one.
  if (e.scale_now) text += ", loss scale " + InWords(*e.scale_now);
  // In saturation mode a finite loss proves nothing, so it is not praised.
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  const std::string_view kind = KindOfLoss(c);
  // What stands for the loss is the negative of a reward.
  const bool rewards = kind == "reward";
  if (rewards) {
    text += ", no loss is in the log, only rewards";
  } else if (e.loss_finite > 0 && e.loss_nonfinite == 0 && !saturates) {
    text += kind == "evaluation" ? ", the evaluation's loss is finite"
                                 : ", the loss is finite";
  }
  text += ".";
  if (e.follows_rewards) {
    if (!rewards) {
      text += " It trains on rewards, so no level of its loss is judged.";
    }
  } else if (e.rivals) {
    text +=
        " Its losses may work against each other, so no level of them is "
        "judged.";
  } else if (kind == "players" && e.loss_finite == 0) {
    text +=
        " Its losses are those of a GAN's players: of them only whether they "
        "are finite is judged.";
  } else if (e.sums) {
    text += " Its loss is a running sum, so no level of it is judged.";
  }
  for (const std::string& said : {c.run.scaler.name, c.run.precision}) {
    const ScalerSpec* spec = FindScaler(said);
    if (spec == nullptr || !spec->of_blocks) continue;
    return text +
           fmt::format(
               " It uses {}. Scales of blocks are not read, so what they lose "
               "is not seen.",
               spec->title);
  }
  return text;
}

std::string Unsettled(const LossRise& rise) {
  return fmt::format(
      "the newest losses rise from {} to {} since step {}, and there are too "
      "few to tell that from noise.",
      InWords(rise.from), InWords(rise.to), rise.from_step);
}

// True for a cause that no finding shows now, and that was no note.
bool IsOver(const Facts& f, const CauseVerdict& cause) {
  return cause.ceiling > Severity::kInfo &&
         !f.found.Any(
             [&](const Finding& finding) { return Explains(cause, finding); });
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

std::string Lead(Condition condition, const RunEvidence& e) {
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
      return "Eased, not over: ";
    case Condition::kHealed:
      return e.earlier_to < 0
                 ? "Over: "
                 : fmt::format("Over since step {}: ", e.earlier_to);
    case Condition::kHealthy:
      return "Healthy: ";
    case Condition::kNoStepYet:
      return "Healthy so far: ";
    default:
      return "";  // the trouble says it
  }
}

void Set(const Case& c, Condition condition, const std::string& words,
         Diagnosis* diagnosis) {
  diagnosis->condition = condition;
  diagnosis->headline_lead = Lead(condition, c.evidence);
  diagnosis->headline = diagnosis->headline_lead + words;
}

void SetCause(const Case& c, Condition condition, int32_t cause,
              Diagnosis* diagnosis) {
  diagnosis->headline_cause = cause;
  Set(c, condition, diagnosis->causes[static_cast<size_t>(cause)].sentence,
      diagnosis);
}

// Sets what is found no more. False: there is nothing to say of it.
bool SetEarlier(const Facts& f, bool first_is_memory, Diagnosis* diagnosis) {
  const RunEvidence& e = f.evidence;
  if (f.broken_off != nullptr && f.broken_off->rule == e.earlier_rule) {
    return false;
  }
  // An alert is held a while, lest it comes back.
  const Condition condition = e.earlier.empty()  ? ConditionWithNote(e)
                              : e.earlier_to < 0 ? Condition::kHeld
                                                 : Condition::kHealed;
  for (size_t i = 0; i < diagnosis->causes.size(); ++i) {
    if (!IsOver(f, diagnosis->causes[i])) continue;
    SetCause(f, condition, static_cast<int32_t>(i), diagnosis);
    return true;
  }
  if (e.earlier.empty()) return false;
  if (first_is_memory) diagnosis->headline_cause = 0;
  Set(f, condition, e.earlier, diagnosis);
  return true;
}

void SetStanding(const Facts& f, bool known_better, bool first_is_memory,
                 Diagnosis* diagnosis) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : f.found) {
    const Severity most =
        &finding == f.broken_off ? Severity::kInfo : Severity::kCritical;
    worst = std::max(worst, std::min(most, UnderCeiling(*diagnosis, finding)));
  }
  if (worst > Severity::kInfo) {
    SetCause(f, Condition::kTrouble, 0, diagnosis);
  } else if (known_better || !SetEarlier(f, first_is_memory, diagnosis)) {
    if (worst == Severity::kNone) return SetHealthyHeadline(f, diagnosis);
    SetCause(f, ConditionWithNote(f.evidence), 0, diagnosis);
  }
}

// Adds what is found since a training came back, where that is told first.
void AddRest(const Facts& f, Diagnosis* diagnosis) {
  const Finding* rest = f.found.FirstOfTheWorst([&](const Finding& finding) {
    return f.after_the_loss.has(finding.rule) &&
           Explains(diagnosis->causes[0], finding);
  });
  const bool came_back = rest != nullptr &&
                         diagnosis->causes[0].cause == Cause::kDivergence &&
                         diagnosis->causes[0].quoted_rule == RuleId::kNone;
  if (came_back) diagnosis->headline += " Since then: " + rest->sentence;
}

// Adds how it broke off. Where that is the trouble, it comes first.
void AddEnd(const Facts& f, Diagnosis* diagnosis) {
  const Finding& end = *f.broken_off;
  const CauseVerdict* cause = FirstCause(*diagnosis, end);
  if (cause == nullptr) return;
  const auto index = static_cast<int32_t>(cause - &diagnosis->causes[0]);
  const Condition before = diagnosis->condition;
  if (Capped(*cause, end) > Severity::kInfo && before != Condition::kTrouble) {
    const std::string earlier =
        IsHealthy(before) ? "" : ' ' + diagnosis->headline;
    SetCause(f, Condition::kTrouble, index, diagnosis);
    diagnosis->headline += earlier;
  } else if (diagnosis->headline_cause != index) {
    diagnosis->headline += ' ' + end.sentence;
  }
}

}  // namespace

void SetHealthyHeadline(const Case& c, Diagnosis* diagnosis) {
  if (c.evidence.unsettled) {
    return Set(c, Condition::kUnsettled, Unsettled(*c.evidence.unsettled),
               diagnosis);
  }
  constexpr int64_t kFewest = 3;  // updates that show anything; ours
  const auto updates =
      static_cast<int64_t>(c.evidence.updates + c.evidence.updates_before);
  const Condition condition = NoneGood(c.evidence) ? Condition::kNothingApplied
                              : c.evidence.updates == 0 ? Condition::kNoStepYet
                              : updates < kFewest       ? Condition::kUnsettled
                                                        : Condition::kHealthy;
  Set(c, condition, Healthy(c), diagnosis);
}

void SetHeadline(const Facts& f, bool known_better, bool first_is_memory,
                 Diagnosis* diagnosis) {
  SetStanding(f, known_better, first_is_memory, diagnosis);
  AddRest(f, diagnosis);
  if (f.broken_off != nullptr) AddEnd(f, diagnosis);
}

}  // namespace nanwatch
