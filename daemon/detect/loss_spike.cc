#include "detect/loss_spike.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kBaselineSamples = 64;
// An explosion can be told from two losses, if they are not tiny (policy losses
// begin at 0 and grow) and it is ten times as large.
constexpr int kEarly = 32;
constexpr float kEarlyFactor = 10;
constexpr float kEarlyLoss = 0.1f;
constexpr int kExplosionHold = 2;
// Healthy losses that show how steady a loss is, where there are hardly any.
constexpr int kFewest = 3;

constexpr ThresholdSpec kThresholds[] = {
    {"z", 8, 2, 1000, "z", "BLOOM 31219 against healthy steps"},
    {"ratio", 2, 1.05, 1000, "ratio", "metaseq, llm-foundry"},
    {"hold", 3, 1, 1000, "records", "ours: single batches are noisy"},
    {"critical_hold", 30, 1, 100000, "records", "BLOOM recovered in about 30"},
    {"explosion_ratio", 10, 2, 1e9, "ratio", "Megatron: 10 x max of 100"},
    {"clear_ratio", 1.2, 1, 1000, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
    {"critical_ratio", 1.5, 1, 1000, "ratio",
     "ours: another mix of data moves the level by less"},
    {"warning_ratio", 1.3, 1, 1000, "ratio",
     "ours: a learning rate that begins anew moves it by less"},
};

}  // namespace

constinit const RuleSpec LossSpike::kSpec = {
    34,
    "loss_spike",
    Family::kLoss,
    "The loss is far above its recent level.",
    "hold records in a row are z robust deviations above the level of the last "
    "128, or ratio times it and 3/4 as many (with little history: ratio times "
    "all before, which hardly moved); for information below warning_ratio "
    "times the level; critical when that lasts critical_hold "
    "records and the loss is still in the upper half of the jump and "
    "critical_ratio times the level, or two in a row are explosion_ratio times "
    "the largest healthy loss.",
    "Below clear_ratio times the level, or 3 deviations above it, for "
    "clear_after records.",
    kThresholds};

bool LossSpike::Explodes(float size, Thresholds t) const {
  if (samples_ < 2) return false;
  const bool early = samples_ < kEarly;
  if (early && largest_ < kEarlyLoss) return false;
  // A first reward makes a tiny loss ten times as large, and no trouble.
  return size > t[kExplosionRatio] * (early ? kEarlyFactor : 1) *
                    std::max(largest_, kEarlyLoss);
}

bool LossSpike::StandsOut(float loss, Thresholds t) const {
  if (samples_ < kFewest || smallest_ <= 0 || largest_ < kEarlyLoss) {
    return false;
  }
  return loss >= t[kRatio] * largest_ &&
         loss - largest_ >= t[kZ] * (largest_ - smallest_);
}

bool LossSpike::IsHigh(float loss, Thresholds t) {
  const float center = baseline_.center();
  const float least =
      std::max({0.01f * std::fabs(center), digit_.worth(), 1e-6f});
  const float spread = std::max(baseline_.spread(), least);
  z_ = (loss - center) / spread;
  calm_ = calm_ && (z_ < 3 || (center > 0 && loss < t[kClearRatio] * center));
  if (z_ < 0.75 * t[kZ]) return false;
  if (center <= 0) return z_ >= t[kZ];
  // Noise that is a large part of the level has a long tail: there it is the
  // logarithm that tells.
  constexpr float kLn2 = 0.6931472f;
  if (kLn2 * Log2(loss / center) * center < 0.5f * t[kZ] * spread) return false;
  return z_ >= t[kZ] || loss >= t[kRatio] * center;
}

Severity LossSpike::Judge(float loss, Thresholds t) {
  const bool explodes = Explodes(std::fabs(loss), t);
  exploded_ = explodes ? exploded_ + 1 : 0;
  digit_.Note(loss);
  calm_ = !explodes;
  bool high = false;
  if (baseline_.samples() >= kBaselineSamples) {
    high = IsHigh(loss, t);
  } else {
    high = StandsOut(loss, t);
    calm_ = calm_ && !high;
  }
  if (!high && !explodes) {
    held_ = 0;
    baseline_.Add(loss);
    smallest_ = samples_ == 0 ? loss : std::min(smallest_, loss);
    largest_ = std::max(largest_, std::fabs(loss));
    if (samples_ < kEarly) ++samples_;
    return Severity::kNone;
  }
  peak_ = held_ == 0 ? loss : std::max(peak_, loss);
  loss_ = loss;
  z_high_ = z_;
  usual_ =
      baseline_.samples() > 0 ? baseline_.center() : std::max(0.0f, smallest_);
  high_for_ = ++held_;
  const bool stays = loss >= usual_ + (peak_ - usual_) / 2 &&
                     (usual_ <= 0 || loss >= t[kCriticalRatio] * usual_);
  baseline_.Reject();
  if (held_ >= 2 * RobustBaseline::kWindow) {
    // The baseline has just begun anew: this is the level now.
    largest_ = std::max(largest_, std::fabs(loss));
    smallest_ = std::min(smallest_, loss);
    held_ = 0;
    accepted_ = true;
    return Severity::kNone;
  }
  accepted_ = false;
  if (exploded_ >= kExplosionHold) return Severity::kCritical;
  if (held_ >= t[kCriticalHold] && stays) return Severity::kCritical;
  if (held_ < t[kHold]) return Severity::kNone;
  const bool far = usual_ <= 0 || peak_ >= t[kWarningRatio] * usual_;
  return far || held_ >= t[kCriticalHold] ? Severity::kWarning
                                          : Severity::kInfo;
}

Severity LossSpike::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(c.record[StepField::kLoss]);
  if (!std::isfinite(loss)) return episode_.severity();  // rule 15's
  const Severity trigger = Judge(loss, t);
  if (held_ == 1) first_step_ = c.record.step;
  const bool opens = !episode_.open();
  const Severity severity = episode_.On(trigger, calm_, c.record.step,
                                        static_cast<int64_t>(t[kClear]));
  if (opens) episode_.OpenedAt(first_step_);
  return severity;
}

void LossSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The loss jumped to ", static_cast<double>(peak_));
  if (baseline_.samples() >= kBaselineSamples) {
    finding->sentence +=
        Sentence(" from its usual ", static_cast<double>(usual_), " (",
                 static_cast<double>(z_high_), " robust deviations)");
  } else {
    finding->sentence += Sentence(" (the largest healthy one was ",
                                  static_cast<double>(largest_), ")");
  }
  finding->sentence +=
      accepted_ ? Sentence(" and stayed there for ", high_for_,
                           " records: this is its level now.")
                : Sentence(" and is high for ", high_for_,
                           high_for_ == 1 ? " record." : " records.");
  finding->numbers = {{"loss", loss_, ""},
                      {"peak", peak_, ""},
                      {"usual", usual_, ""},
                      {"z", z_high_, "deviations"},
                      {"records", static_cast<double>(high_for_), "records"}};
}

}  // namespace nanwatch
