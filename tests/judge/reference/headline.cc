#include "tests/judge/reference/headline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "tests/judge/reference/diagnose.h"
#include "tests/judge/reference/scale_facts.h"
#include "tests/judge/reference/words.h"

namespace nanwatch::reference {
namespace {

std::string Healthy(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.attempts == 0) return "Healthy so far: no step has been reported yet.";
  // So few that a rule would not ask whether the search will end.
  const bool none_good = e.overflows == e.attempts && e.applied == 0;
  std::string text = none_good ? "No update applied yet: " : "Healthy: ";
  text += CountOf(e.attempts, e.steps_between ? "recorded step" : "step") +
          OfOptimizer(e);
  if (e.attempts_before > 0) {
    text += fmt::format(" since the last restart ({} in all)",
                        e.attempts_before + e.attempts);
  }
  if (none_good) {
    text += e.attempts == 1 ? ", which overflowed" : ", which all overflowed";
    if (e.in_grace) text += ", as a search for the loss scale begins";
  } else if (e.overflows > 0) {
    const int64_t start = ToldAtStartUp(e);
    // Of steps without a record nobody knows, so there is no share to tell.
    text += fmt::format(
        ", {} ({}{})", CountOf(e.overflows, "overflow"),
        e.steps_between ? "as far as shown"
                        : PercentOf(e.overflows, e.attempts),
        start > 0 ? fmt::format(", {} of them at the start", start) : "");
  } else if (e.applied > 0) {
    text += ", no overflow";
  }  // Else nobody said whether there was one.
  if (e.scale_now) text += ", loss scale " + InWords(*e.scale_now);
  // In saturation mode a finite loss proves nothing, so it is not praised.
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  if (e.loss_finite > 0 && e.loss_nonfinite == 0 && !saturates) {
    text += ", the loss is finite";
  }
  return text + ".";
}

std::string EarlierIncident(const RunEvidence& e) {
  if (e.earlier_to < 0) return e.earlier;
  return fmt::format("(steps {} to {}) {}", e.earlier_from, e.earlier_to,
                     e.earlier);
}

// What is over and was worth a warning; empty: nothing was.
std::string Earlier(const Case& c, const Diagnosis& diagnosis) {
  for (const CauseVerdict& cause : diagnosis.causes) {
    const bool now = std::any_of(
        c.findings.begin(), c.findings.end(),
        [&](const Finding& finding) { return Explains(cause, finding); });
    if (!now && cause.ceiling > Severity::kInfo) return cause.sentence;
  }
  return c.evidence.earlier.empty() ? "" : EarlierIncident(c.evidence);
}

// What a note begins with: a run that applies nothing is not called healthy.
std::string Lead(const RunEvidence& e) {
  const bool stands =
      e.attempts_last_50 > 0 && e.skipped_last_50 == e.attempts_last_50;
  if (!stands) return "Healthy, with a note: ";
  if (!e.in_grace) return "Not learning now: ";
  // Calibration may end by itself: not yet a fault.
  return e.first_good_step < 0 ? "No update applied yet: "
                               : "Healthy, with a note: ";
}

}  // namespace

bool IsKnownBetter(const Case& c, const Diagnosis& diagnosis) {
  const RunEvidence& e = c.evidence;
  if (e.earlier_to >= 0) return false;
  return std::any_of(
      c.findings.begin(), c.findings.end(), [&](const Finding& finding) {
        const CauseVerdict* now = FirstCause(diagnosis, finding);
        return finding.rule == e.earlier_rule && now != nullptr &&
               now->grade == EvidenceGrade::kEstablished &&
               now->cause != e.earlier_cause;
      });
}

std::string Headline(const Case& c, const Diagnosis& diagnosis) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : c.findings) {
    worst = std::max(worst, UnderCeiling(diagnosis, finding));
  }
  if (worst > Severity::kInfo) return diagnosis.causes[0].sentence;
  const std::string earlier =
      IsKnownBetter(c, diagnosis) ? "" : Earlier(c, diagnosis);
  if (!earlier.empty()) {
    // An alert is held a while, lest it comes back: not yet called healthy.
    const bool held = !c.evidence.earlier.empty() && c.evidence.earlier_to < 0;
    return (held ? "Not found any more, but alerted still: "
                 : "Healthy now. Earlier: ") +
           earlier;
  }
  if (worst == Severity::kInfo) {
    const RunEvidence& e = c.evidence;
    return Lead(e) + diagnosis.causes[0].sentence;
  }
  return Healthy(c);
}

}  // namespace nanwatch::reference
