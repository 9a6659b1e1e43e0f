#include "detect/update_norm_spike.h"

#include <cmath>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// Of 134 series of public logs: as for gradient norms. An optimizer's first
// updates are of another size than those that follow.
constexpr NoisePrior kNoise = {.running = 0.30f, .fresh = 0.60f};
constexpr int32_t kKnown = 64;   // updates that show a usual size; ours
constexpr int32_t kStays = 256;  // updates of another size; ours

constexpr ThresholdSpec kThresholds[] = {
    {"warning_nats", 13.8, 3, 1000, "nats",
     "a false alarm in a million excursions"},
    {"ratio", 2, 1.05, 1e6, "ratio", "marin#1368"},
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
    "For hold updates the norm of the update (as a share of the learning "
    "rate) stands above its level with `warning_nats` of evidence, at ratio "
    "times it, from the 64th update on (rule loss_spike says what evidence "
    "is). Where the learning rate is not told, only if it jumps there. Skipped "
    "updates do not count.",
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
  if (by_rate != by_rate_) sizes_ = Series();
  by_rate_ = by_rate;
  return static_cast<float>(size);
}

Severity UpdateNormSpike::OnStep(const StepContext& c, Thresholds t) {
  const std::optional<float> size = Size(c);
  if (!size) return episode_.severity();
  const Excursion& x = sizes_.excursion();
  sizes_.Add(*size, c.record.step, kNoise);
  if (sizes_.out() && x.values() > kStays) sizes_.Accept();
  // A schedule that is not told climbs; it never jumps up.
  const bool out = sizes_.out() && x.calm() == 0 && sizes_.values() > kKnown &&
                   (by_rate_ || x.jumped());
  if (!out && !episode_.open()) return Severity::kNone;
  const float above = sizes_.height();
  const float clear = t.Ln(kClearRatio);
  const bool high = out && x.above() >= t[kHold] && x.nats() >= t[kNats] &&
                    x.mean_rise() >= t.Ln(kRatio);
  if (high) {
    norm_ = static_cast<float>(c.record[StepField::kUpdateNorm]);
    times_ = std::exp(above);
    nats_ = x.nats();
  }
  return episode_.OnSince(x.step(), high ? Severity::kWarning : Severity::kNone,
                          above < clear, c.record.step, t[kClear]);
}

void UpdateNormSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The norm of the update is ", norm_, ", ", times_,
               by_rate_ ? " times its usual share of the learning rate."
                        : " times its usual size.");
  finding->numbers = {{"update_norm", norm_, ""},
                      {"times_usual", times_, "ratio"},
                      {"nats", nats_, "nats"}};
}

}  // namespace nanwatch
