#include "detect/update_norm_spike.h"

#include <algorithm>
#include <cmath>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// A norm that never moves would make every flicker an outlier.
constexpr float kLeastSpread = 0.05f;  // log2; ours

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 2, 1.05, 1e6, "ratio", "marin#1368"},
    {"z", 6, 2, 1000, "z", "ours: as for the gradient norm"},
    {"hold", 3, 1, 100000, "updates", "marin#1368"},
    {"clear_ratio", 1.3, 1, 1e6, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec UpdateNormSpike::kSpec = {
    RuleId::kUpdateNormSpike,
    "update_norm_spike",
    Family::kWeight,
    "The updates are far larger than they were: a spike of the loss may "
    "follow.",
    "For hold updates in a row the norm of the update (as a share of the "
    "learning rate) is ratio times its level of 128 updates and z robust "
    "deviations above it. Skipped updates do not count.",
    "Below clear_ratio times the level for clear_after updates.",
    kThresholds,
    "The update is taken as a share of the learning rate, so that a "
    "schedule moves no level."};

std::optional<float> UpdateNormSpike::Size(const StepContext& c) {
  const StepRecord& r = c.record;
  if (!r.has(StepField::kUpdateNorm) || c.scaler.fate() == Fate::kLost) {
    return std::nullopt;
  }
  double size = r[StepField::kUpdateNorm];
  const bool by_rate = r.has(StepField::kLearningRate);
  if (by_rate) {
    if (!(r[StepField::kLearningRate] > 0)) return std::nullopt;
    size /= r[StepField::kLearningRate];
  }
  if (!(size >= 1e-30) || size > 1e30) return std::nullopt;
  if (by_rate != by_rate_) {
    baseline_ = {};
    held_ = 0;
    by_rate_ = by_rate;
  }
  return Log2(static_cast<float>(size));
}

Severity UpdateNormSpike::OnStep(const StepContext& c, Thresholds t) {
  const std::optional<float> size = Size(c);
  if (!size) return episode_.severity();
  const auto clear = static_cast<int64_t>(t[kClear]);
  if (baseline_.samples() < RobustBaseline::kWindow) {
    held_ = 0;
    baseline_.Add(*size);
    return episode_.On(Severity::kNone, true, c.record.step, clear);
  }
  const float above = *size - baseline_.center();
  const float z = above / std::max(baseline_.spread(), kLeastSpread);
  const bool high = z >= t[kZ] && above >= Log2(static_cast<float>(t[kRatio]));
  if (high) {
    if (held_++ == 0) first_step_ = c.record.step;
    norm_ = static_cast<float>(c.record[StepField::kUpdateNorm]);
    above_ = above;
    z_ = z;
    baseline_.Reject();
  } else {
    held_ = 0;
    baseline_.Add(*size);
  }
  return episode_.OnSince(
      first_step_, held_ >= t[kHold] ? Severity::kWarning : Severity::kNone,
      above < Log2(static_cast<float>(t[kClearRatio])), c.record.step, clear);
}

void UpdateNormSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const double times = std::exp2(static_cast<double>(above_));
  finding->sentence = Sentence(
      "The norm of the update is ", static_cast<double>(norm_), ", ", times,
      by_rate_ ? " times its usual share of the learning rate ("
               : " times its usual size (",
      static_cast<double>(z_), " robust deviations).");
  finding->numbers = {{"update_norm", norm_, ""},
                      {"times_usual", times, "ratio"},
                      {"z", z_, "deviations"}};
}

}  // namespace nanwatch
