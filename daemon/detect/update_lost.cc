#include "detect/update_lost.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr float kLowRate = 0.1f;   // of the highest learning rate; ours
constexpr float kRises = 1.0001f;  // times the rate before; ours

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.95, 0.01, 1, "of elements",
     "ours: of what a healthy training in bf16 leaves as it was in 16 updates, "
     "up to 0.8"},
    {"hold", 4, 1, 10000, "measures", "ours: 64 updates"},
    {"clear_after", 4, 1, 10000, "measures", "ours"},
};

}  // namespace

constinit const RuleSpec UpdateLost::kSpec = {
    RuleId::kUpdateLost,
    "update_lost",
    Family::kWeight,
    "Weights in 16 bits hardly change under their updates, which are lost in "
    "rounding.",
    "In hold measures in a row at least share of the elements that had a "
    "gradient are the same as some updates before, while the learning rate "
    "does not rise and is at least a tenth of its highest.",
    "Less than that in clear_after measures in a row.",
    kThresholds,
    "Clients measure weights that have no copy in more bits, a sample of them, "
    "over 16 updates."};

Severity UpdateLost::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (r.update == nullptr || !r.update->stuck) return episode_.severity();
  const auto share = static_cast<float>(*r.update->stuck);
  const auto rate =
      static_cast<float>(r.get(StepField::kLearningRate).value_or(1));
  const bool rises = rate_ > 0 && rate > rate_ * kRises;
  rate_ = rate;
  if (!std::isfinite(rate) || rate <= 0) return episode_.severity();
  const bool lost = share >= t[kShare];
  if (rises || rate < kLowRate * c.rate->highest()) return episode_.severity();
  if (lost) share_ = share;
  return episode_.OnRecord(lost, t[kHold], Severity::kWarning, r.step,
                           t[kClear]);
}

void UpdateLost::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence(100.0 * share_,
               " % of the elements of weights in 16 bits are as "
               "they were some updates ago, though they had gradients: "
               "updates are smaller than the format resolves.");
  finding->numbers = {
      {"stuck_fraction", share_, ""},
      {"measures", static_cast<double>(episode_.held()), "measures"}};
}

}  // namespace nanwatch
