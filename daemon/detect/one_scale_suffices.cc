#include "detect/one_scale_suffices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "detect/worst_layer.h"
#include "scaler/log2.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"room", 2, 0, 40, "bits", "ours: what a run moves in between"},
    {"hold", 1000, 1, 1000000, "records", "ours: a growth interval"},
    {"clear_after", 1, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec OneScaleSuffices::kSpec = {
    RuleId::kOneScaleSuffices,
    "one_scale_suffices",
    Family::kScale,
    "Each layer has a loss scale of its own, and one would do for all.",
    "For hold records in a row with layer-wise scales, of two layers and more, "
    "the largest scale that a layer needs is room below the smallest that one "
    "bears. Of each layer both are known.",
    "It is not so for clear_after records.",
    kThresholds};

Severity OneScaleSuffices::OnLayers(const LayerContext& c, Thresholds t) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  uint32_t layers = 0;
  bool known = true;
  for (const LayerRange& layer : c.ranges) {
    if (layer.owner() != ScaleOwner::kLayer) continue;
    ++layers;
    known &= layer.sight() == Sight::kSeen && layer.low() && layer.high();
    low = std::max(low, layer.low().value_or(low));
    high = std::min(high, layer.high().value_or(high));
  }
  const bool one = known && layers >= 2 && low + t[kRoom] <= high;
  if (one) {
    layers_ = layers;
    low_ = low;
    high_ = high;
  }
  return episode_.OnRecord(one, t[kHold], Severity::kInfo, c.record.step,
                           t[kClear]);
}

void OneScaleSuffices::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("One loss scale would suit all ", layers_, " layers: any from ",
               LeastPowerText(low_), " to ", PowerText(std::floor(high_)), ".");
  finding->numbers = {{"lowest_that_suits", ExactExp2(low_), ""},
                      {"highest_that_suits", ExactExp2(high_), ""},
                      {"layers", static_cast<double>(layers_), ""}};
}

}  // namespace nanwatch
