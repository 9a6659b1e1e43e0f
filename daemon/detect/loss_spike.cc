#include "detect/loss_spike.h"

#include <algorithm>
#include <cmath>

#include "detect/float_log2.h"
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
constexpr float kSteady = 0.05f;  // of the largest: they hardly moved
// Losses that wander through 0 have no level, and drift on for dozens of
// records: their deviations say less.
constexpr float kWanders = 1.5f;
constexpr float kOftenMemory = 1.0f / 256;  // records
constexpr int kShortly = 8;                 // records in a row
constexpr float kChance = 20;               // bits: once in a million
constexpr float kDecay = 0.1f;              // of the jump, between two halves
// The next stage of a curriculum is at its highest at once.
constexpr float kClimb = 0.5f;  // of the first record's jump, more
constexpr float kClimbDeviations = 12;
constexpr float kClimbRatio = 1.3f;  // of the level

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
    {"warning_ratio", 1.5, 1, 1000, "ratio",
     "ours: a curriculum's next stage moves it by less"},
    {"small_hold", 100, 2, 100000, "records",
     "ours: half of a curriculum's jump is gone by then"},
};

}  // namespace

constinit const RuleSpec LossSpike::kSpec = {
    34,
    "loss_spike",
    Family::kLoss,
    "The loss is far above its recent level.",
    "hold records in a row are z robust deviations above the level of the last "
    "128, or ratio times it and 3/4 as many (with little history: ratio times "
    "all before, within 5 % of one another; more in a row where single losses "
    "often "
    "stand out); for information until hold in a row are warning_ratio times "
    "the level, or it climbs further, or the second half of small_hold records "
    "is no lower; critical when that lasts critical_hold "
    "records and the loss, for hold, is still in the upper half of the jump "
    "and critical_ratio times the level, or two in a row are explosion_ratio "
    "times "
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
  return largest_ - smallest_ <= kSteady * largest_ &&
         loss >= t[kRatio] * largest_ &&
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
  if (center <= 0 || smallest_ < 0) return z_ >= kWanders * t[kZ];
  // Noise that is a large part of the level has a long tail: there it is the
  // logarithm that tells.
  constexpr float kLn2 = 0.6931472f;
  if (kLn2 * Log2(loss / center) * center < 0.5f * t[kZ] * spread) return false;
  return z_ >= t[kZ] || loss >= t[kRatio] * center;
}

void LossSpike::OnHealthy(float loss) {
  often_ -= kOftenMemory * often_;
  if (held_ > 0 && held_ <= kShortly) {
    often_ += kOftenMemory * static_cast<float>(held_);
  }
  held_ = 0;
  // Exactly 0 from the beginning: policies whose losses are not there yet.
  if (loss == 0 && largest_ == 0) return;
  baseline_.Add(loss);
  smallest_ = samples_ == 0 ? loss : std::min(smallest_, loss);
  largest_ = std::max(largest_, std::fabs(loss));
  if (samples_ < kEarly) ++samples_;
}

// So many in a row that chance makes them once in a million records.
float LossSpike::HoldOf(Thresholds t) const {
  const auto hold = static_cast<float>(t[kHold]);
  if (often_ < 0.005f) return hold;
  return often_ < 0.5f ? std::max(hold, kChance / -Log2(often_)) : kChance;
}

// The second half of the first small_hold losses is below the first.
bool LossSpike::ComesDown() const {
  return late_ < early_ - kDecay * (early_ - usual_);
}

bool LossSpike::Climbs(float loss) const {
  return loss >= kClimbRatio * usual_ && z_ - z_start_ >= kClimbDeviations &&
         loss - start_ >= kClimb * (start_ - usual_);
}

Severity LossSpike::OnHigh(float loss, Thresholds t) {
  const bool first = held_ == 0;
  if (first) far_ = stays_ = climbs_ = 0;
  peak_ = first ? loss : std::max(peak_, loss);
  if (!episode_.open() && first) high_for_ = 0;
  highest_ = !episode_.open() ? peak_ : std::max(highest_, peak_);
  loss_ = loss;
  z_high_ = z_;
  usual_ =
      baseline_.samples() > 0 ? baseline_.center() : std::max(0.0f, smallest_);
  ++held_;
  high_for_ = std::max(high_for_, held_);
  far_ = loss >= t[kWarningRatio] * usual_ ? far_ + 1 : 0;
  const auto half = static_cast<int32_t>(t[kSmallHold]) / 2;
  if (first) {
    early_ = late_ = 0;
    start_ = loss;
    z_start_ = z_;
  }
  if (held_ <= half) early_ += loss / static_cast<float>(half);
  if (held_ > half && held_ <= 2 * half) {
    late_ += loss / static_cast<float>(half);
  }
  const bool stays = loss >= usual_ + (peak_ - usual_) / 2 &&
                     (usual_ <= 0 || loss >= t[kCriticalRatio] * usual_);
  stays_ = stays ? stays_ + 1 : 0;
  climbs_ = Climbs(loss) ? climbs_ + 1 : 0;
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
  if (held_ >= t[kCriticalHold] && stays_ >= t[kHold]) {
    return Severity::kCritical;
  }
  if (static_cast<float>(held_) < HoldOf(t)) return Severity::kNone;
  const bool far =
      usual_ <= 0 || static_cast<double>(far_) >= t[kHold] || climbs_ > 1;
  return far || (held_ >= 2 * half && !ComesDown()) ? Severity::kWarning
                                                    : Severity::kInfo;
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
  if (high || explodes) return OnHigh(loss, t);
  OnHealthy(loss);
  return Severity::kNone;
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
      Sentence("The loss jumped to ", static_cast<double>(highest_));
  if (baseline_.samples() >= kBaselineSamples) {
    finding->sentence +=
        Sentence(" from its usual ", static_cast<double>(usual_), " (",
                 static_cast<double>(z_high_), " robust deviations)");
  } else {
    finding->sentence += Sentence(" (the largest healthy one was ",
                                  static_cast<double>(largest_), ")");
  }
  finding->sentence +=
      accepted_
          ? Sentence(" and stayed there for ", high_for_,
                     " records: this is its level now.")
          : Sentence(held_ > 0 ? " and is high for " : " and was high for ",
                     high_for_, high_for_ == 1 ? " record." : " records.");
  finding->numbers = {{"loss", loss_, ""},
                      {"peak", highest_, ""},
                      {"usual", usual_, ""},
                      {"z", z_high_, "deviations"},
                      {"records", static_cast<double>(high_for_), "records"}};
}

}  // namespace nanwatch
