// LayerEpisode: as Episode, for the layer-wise loss scales of a record. It
// speaks of the layer whose scale was the worst when the trouble began.

#ifndef NANWATCH_DETECT_LAYER_EPISODE_H_
#define NANWATCH_DETECT_LAYER_EPISODE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "model/finding.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class LayerEpisode {
 public:
  // A record with layer-wise scales, of which the lowest triggers or not;
  // `clean` and `clear_after` as of Episode, in such records.
  Severity On(Severity trigger, bool clean, const StepLayers& layers,
              int64_t step, double clear_after) {
    if (trigger != Severity::kNone) {
      if (!episode_.open()) name_.Set(layers.lowest_name);
      if (layers.lowest_name.ends_with(name())) scale_ = layers.of.lowest;
    }
    return episode_.On(trigger, clean, step, clear_after);
  }

  Severity severity() const { return episode_.severity(); }
  bool open() const { return episode_.open(); }
  // Of that layer, when it was last the worst.
  double scale() const { return scale_; }
  std::string_view name() const { return name_.get(); }

  // The layer as the subject: its gradients are what the scale is for.
  void Describe(Finding* finding) const {
    episode_.Describe(finding);
    finding->subject.op = name_.get();
    finding->subject.slot = Slot::kGradOutput;
    finding->numbers = {{"layer_scale", scale_, ""}};
  }

 private:
  Episode episode_;
  OpNameText name_{};
  double scale_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_EPISODE_H_
