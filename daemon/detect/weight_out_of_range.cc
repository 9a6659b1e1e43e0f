#include "detect/weight_out_of_range.h"

#include <limits>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

// Weights that grow together are within this of each other.
constexpr float kFarAbove = 0x1p32f;  // ratio; ours

// The highest bit of the exponent of an fp32 (or bf16) number below 2 makes
// 2^128 times of it. The weight may have been the tensor's largest, or a
// millionth of that. The largest number that there is was written by somebody.
bool IsAsAFlippedBitMakesIt(float weight, float largest_before) {
  const double ratio = static_cast<double>(weight) / largest_before;
  return weight < std::numeric_limits<float>::max() && ratio >= 0x1p108 &&
         ratio <= 0x1p129;
}

constexpr ThresholdSpec kThresholds[] = {
    {"limit", kWildWeight, kWildWeight, 3e38, "magnitude",
     "ours: 2^64, whose square leaves the range of fp32"},
};

}  // namespace

constinit const RuleSpec WeightOutOfRange::kSpec = {
    RuleId::kWeightOutOfRange,
    "weight_out_of_range",
    Family::kWeight,
    "A weight is finite, and so large that its square is no number of fp32.",
    "The largest weight of a parameter reaches limit, after it was below it.",
    "The next look at that parameter that finds it below limit.",
    kThresholds,
    "This rule is ours. 2^64 is where the square of an fp32 number leaves "
    "its range, far above what training makes of a weight. What was so "
    "large when it was first seen is meant to be (a mask that is a "
    "parameter). It is called silent corruption only on one rank, where the "
    "tensor is 2^32 times above all others of the same look and 2^108 to "
    "2^129 times above its own last look, as the highest bit of an exponent "
    "makes it (2^128 times). Then it gets the blame for what came since the "
    "look before (32 steps in the PyTorch client). All else is a training "
    "that diverges: one update on a raw timestamp in milliseconds made "
    "2.5e19 of one weight and 1.5e7 of the bias, and 192 trainings whose "
    "rate rose to between 1 and 1e18 had no weight of that kind."};

Severity WeightOutOfRange::OnOp(const OpContext& c, Thresholds t) {
  if (c.status.slot != Slot::kParameter) return Severity::kNone;
  const auto largest = c.status.get(OpStat::kAbsMax);
  if (!largest) return episode_.severity();  // it holds NaN by now, mostly
  const bool large = *largest >= t[kLimit];
  Severity trigger = Severity::kNone;
  if (large && (episode_.open() || c.trend.weight_before >= 0)) {
    trigger = Severity::kCritical;
    if (!episode_.open()) {
      largest_ = *largest;
      others_ = c.trend.other_weights;
      before_ = c.trend.weight_before;
    }
  }
  return episode_.On(trigger, !large, c.status.step, 1);
}

void WeightOutOfRange::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const bool alone = others_ >= 0 && others_ * kFarAbove <= largest_;
  const bool flipped = IsAsAFlippedBitMakesIt(largest_, before_);
  finding->sentence =
      Sentence("A weight of this parameter is ", largest_,
               ", and its square no number of fp32; at a look before its "
               "largest was ",
               before_, ".");
  if (others_ >= 0) {
    finding->sentence +=
        Sentence(" The largest weight of all others is ", others_, ".");
  }
  finding->numbers = {{"abs_max", largest_, ""},
                      {"abs_max_before", before_, ""},
                      {"alone", alone ? 1.0 : 0.0, ""},
                      {"flipped", flipped ? 1.0 : 0.0, ""}};
  if (others_ >= 0) {
    finding->numbers.push_back({"abs_max_of_others", others_, ""});
  }
}

}  // namespace nanwatch
