#include "diagnose/headline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

std::string Healthy(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.attempts == 0) return "Healthy so far: no step has been reported yet.";
  std::string text = fmt::format("Healthy: {} steps", e.attempts);
  text += e.overflows == 0
              ? ", no overflow"
              : fmt::format(", {} overflow{} ({:.2g} %)", e.overflows,
                            e.overflows == 1 ? "" : "s",
                            100.0 * static_cast<double>(e.overflows) /
                                static_cast<double>(e.attempts));
  if (e.scale_now) text += ", loss scale " + InWords(*e.scale_now);
  // In saturation mode a finite loss proves nothing, so it is not praised.
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  if (e.loss_finite > 0 && e.loss_nonfinite == 0 && !saturates) {
    text += ", the loss is finite";
  }
  return text + ".";
}

}  // namespace

std::string Headline(const Case& c, const Diagnosis& diagnosis) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : c.findings) {
    worst = std::max(worst, UnderCeiling(diagnosis, finding));
  }
  if (diagnosis.causes.empty()) return Healthy(c);
  const CauseVerdict& first = diagnosis.causes[0];
  if (worst > Severity::kInfo) return first.sentence;
  if (worst == Severity::kInfo) {
    return "Healthy, with a note: " + first.sentence;
  }
  if (first.ceiling > Severity::kInfo) {
    return "Healthy now. Earlier: " + first.sentence;
  }
  return Healthy(c);
}

}  // namespace nanwatch
