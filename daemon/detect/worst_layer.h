// WorstLayer: the layer that a rule on layer-wise scales speaks of: the one
// that was the worst when the trouble began, and how many are like it.

#ifndef NANWATCH_DETECT_WORST_LAYER_H_
#define NANWATCH_DETECT_WORST_LAYER_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "detect/layer_context.h"
#include "detect/op_name_text.h"
#include "detect/sentence.h"
#include "model/finding.h"
#include "scaler/log2.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class WorstLayer {
 public:
  // A layer that is in trouble; `badness` says how much.
  void Add(const LayerRange& layer, double badness) {
    ++count_;
    if (count_ > 1 && badness <= badness_) return;
    badness_ = badness;
    range_ = layer;
  }
  void Name(const OpNameOf& name) { name_.Set(name(range_.op())); }

  uint32_t count() const { return count_; }
  const LayerRange& range() const { return range_; }
  std::string_view name() const { return name_.get(); }

  // What its scale is called.
  std::string_view scale() const {
    return range_.owner() == ScaleOwner::kTensor ? "FP8 scale" : "loss scale";
  }

  // The layer as the subject: its gradients are what the scale is for.
  void Describe(Finding* finding) const {
    finding->subject.op = name_.get();
    finding->subject.slot = Slot::kGradOutput;
    if (const auto scale = range_.own_scale()) {
      finding->numbers.push_back({"layer_scale", ExactExp2(*scale), ""});
    }
    if (const auto low = range_.low()) {
      finding->numbers.push_back({"lowest_that_suits", ExactExp2(*low), ""});
    }
    if (const auto high = range_.high()) {
      finding->numbers.push_back({"highest_that_suits", ExactExp2(*high), ""});
    }
    finding->numbers.push_back({"layers", static_cast<double>(count_), ""});
  }
  // ", as 3 more layers are"; empty where it is alone.
  std::string Others(std::string_view is, std::string_view are) const {
    if (count_ < 2) return "";
    return count_ == 2 ? Sentence(", as 1 more layer ", is)
                       : Sentence(", as ", count_ - 1, " more layers ", are);
  }

 private:
  LayerRange range_;
  OpNameText name_{};
  double badness_ = 0;
  uint32_t count_ = 0;
};

// "2^14", "2^13.6".
inline std::string PowerText(double log2_scale) {
  return Sentence("2^", std::round(10 * log2_scale) / 10);
}
// The least power of two that a layer needs.
inline std::string LeastPowerText(double low) {
  return PowerText(std::ceil(low));
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_WORST_LAYER_H_
