#include "detect/gnorm_spike.h"

#include <algorithm>
#include <cmath>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// A norm that never moves would make every flicker an outlier.
constexpr float kLeastSpread = 0.05f;  // log2; ours
constexpr float kSmooth = 0.125f;      // of an update; ours

constexpr ThresholdSpec kThresholds[] = {
    {"warning_z", 6, 2, 1000, "z", "BLOOM 31214-31222 against healthy steps"},
    {"critical_z", 8, 2, 1000, "z", "the same"},
    {"min_ratio", 2, 1, 1e6, "ratio", "ours: less is no trouble"},
    {"hold", 3, 1, 100000, "updates",
     "ours, as for the loss: single batches are noisy"},
    {"critical_hold", 20, 1, 100000, "updates",
     "ours: BLOOM and tr1-13B recovered from shorter ones"},
    {"clear_z", 3, 0, 1000, "z", "ours"},
    {"clear_after", 20, 1, 100000, "updates", "ours"},
    {"critical_steps", 250, 1, 1e9, "steps",
     "tr1-13B recovered within 500, its norm before its loss"},
};

}  // namespace

constinit const RuleSpec GnormSpike::kSpec = {
    RuleId::kGnormSpike,
    "gnorm_spike",
    Family::kGradient,
    "The gradient norm is far above its recent level.",
    "log2 of the norm is warning_z robust deviations above the level of 128 "
    "updates, and min_ratio times it, for hold updates in a row (for "
    "information below); critical after critical_hold updates in a row, and "
    "critical_steps steps, at critical_z, if it does not come down, nor the "
    "loss that left its level with it. For information where the run had norms "
    "a hundred times as large and the loss does not move by a thousandth: it "
    "has converged. A learning rate that goes back up to where it was begins a "
    "new level.",
    "Below clear_z for clear_after updates.",
    kThresholds,
    "One batch is for information and three are a warning: norms have long "
    "tails, and a z of 6 at a single update warned 3 times in 100,000 "
    "healthy ones. A norm that moves by its last printed digit is at its "
    "level. It is critical only while the newest norms are no lower than "
    "all since it rose: a spike comes down from its first update on. At "
    "rest it is for information, too: trainings on full batches converge to "
    "1e-5 of their first norms, and Adam wobbles there by two decades while "
    "the loss stands still. A learning rate that goes back up to where it "
    "was begins a new level. Where the optimizers of a rank have losses of "
    "their own (a GAN, an actor and its critic), the rule says no more than "
    "information: of 54 healthy GANs 24 had a warning and 4 a critical "
    "before."};

void GnormSpike::Follow(float above) {
  if (spiked_++ == 0) mean_ = smooth_ = above;
  mean_ += (above - mean_) / static_cast<float>(spiked_);
  smooth_ += kSmooth * (above - smooth_);
}

Severity GnormSpike::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kGradNorm) || c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  const float norm = static_cast<float>(c.record[StepField::kGradNorm]);
  // 0 is a placeholder in many logs; non-finite is gnorm_explosion's.
  if (!(norm >= 1e-30f) || !std::isfinite(norm)) return episode_.severity();
  digit_.Note(norm);
  if (restart_.Note(c.record)) baseline_ = RobustBaseline();
  const std::optional<double> loss = FiniteLoss(c.record);
  const float x = c.norm_log2;
  if (baseline_.samples() < RobustBaseline::kWindow) {
    held_ = spiked_ = 0;
    baseline_.Add(x);
    rest_.Learn(norm, loss);
    return episode_.On(Severity::kNone, true, c.record.step,
                       static_cast<int64_t>(t[kClear]));
  }
  const float above = x - baseline_.center();
  float z = above / std::max(baseline_.spread(), kLeastSpread);
  if (z >= t[kWarningZ]) {  // seldom: what its last digit is worth
    const float digit =
        Log2(1 + digit_.worth() / std::exp2(baseline_.center()));
    z = std::min(z, above / std::max(digit, kLeastSpread));
  }
  Severity trigger = Severity::kNone;
  if (z >= t[kWarningZ] && above >= Log2(static_cast<float>(t[kMinRatio]))) {
    held_ = z >= t[kCriticalZ] ? held_ + 1 : 0;
    if (held_ == 1) held_step_ = c.record.step;
    Follow(above);
    const auto steps = static_cast<double>(c.record.step - held_step_);
    const bool stays = held_ >= t[kCriticalHold] &&
                       steps >= t[kCriticalSteps] && smooth_ >= mean_ &&
                       !c.loss_returns;
    trigger = rest_.Explains(norm, loss) ? Severity::kInfo
              : stays                    ? Severity::kCritical
              : spiked_ >= t[kHold]      ? Severity::kWarning
                                         : Severity::kInfo;
    if (!episode_.open() || norm > norm_) {
      norm_ = norm;
      z_ = z;
      usual_ = baseline_.center();
    }
    baseline_.Reject();
  } else {
    held_ = spiked_ = 0;
    baseline_.Add(x);
    rest_.Learn(norm, loss);
  }
  return episode_.On(trigger, z < t[kClearZ], c.record.step,
                     static_cast<int64_t>(t[kClear]));
}

void GnormSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const double usual = std::exp2(static_cast<double>(usual_));
  finding->sentence =
      Sentence("The gradient norm reached ", static_cast<double>(norm_), ", ",
               norm_ / usual, " times its usual ", usual, " (",
               static_cast<double>(z_), " robust deviations)");
  if (spiked_ > 1) {
    finding->sentence += Sentence(", for ", spiked_, " updates in a row");
  }
  finding->sentence += ".";
  finding->numbers = {
      {"grad_norm", norm_, ""}, {"usual", usual, ""}, {"z", z_, "deviations"}};
}

}  // namespace nanwatch
