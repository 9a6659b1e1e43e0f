#include "detect/never_calibrated.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"more", 0.25, 0, 100, "of that time",
     "ours: a search of 33 that ended well lost two at its floor"},
    {"clear_after", 10, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec NeverCalibrated::kSpec = {
    RuleId::kNeverCalibrated,
    "never_calibrated",
    Family::kScale,
    "Every update since the start was lost to overflow, though a scaler would "
    "have found its scale by now.",
    "No good update within the time that the scaler needs from its first "
    "scale to its floor; critical after `more` of that time, or where the "
    "records end.",
    "clear_after good updates.",
    kThresholds};

Severity NeverCalibrated::OnStep(const StepContext& c, Thresholds t) {
  const ScalerTracker& s = c.scaler;
  if (s.good_steps() > 0) {
    if (!episode_.open()) return Severity::kNone;
    return episode_.On(Severity::kNone, !s.overflowed(), c.record.step,
                       t[kClear]);
  }
  if (s.updates() <= s.grace_updates() || s.fate() != Fate::kLost) {
    return episode_.severity();
  }
  updates_ = s.updates();
  first_scale_ = s.first_scale().value_or(0);
  scale_ = s.present_scale().value_or(-1);
  const bool long_so = static_cast<double>(s.updates()) >
                       (1 + t[kMore]) * static_cast<double>(s.grace_updates());
  return episode_.On(long_so ? Severity::kCritical : Severity::kWarning, false,
                     c.record.step, 1);
}

Severity NeverCalibrated::OnEnd(Thresholds) {
  return episode_.clears() ? episode_.severity()
                           : episode_.Worsen(Severity::kCritical);
}

void NeverCalibrated::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence("None of the first ", updates_,
                               " records shows an update that went well");
  finding->numbers = {{"attempts", static_cast<double>(updates_), "updates"}};
  if (scale_ >= 0) {
    finding->sentence += Sentence("; the loss scale went from ", first_scale_,
                                  " to ", scale_, " meanwhile");
    finding->numbers.push_back({"first_scale", first_scale_, ""});
    finding->numbers.push_back({"scale", scale_, ""});
  }
  finding->sentence += ": nothing has been learned.";
}

}  // namespace nanwatch
