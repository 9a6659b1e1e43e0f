// LayerWatch: which loss scales suit the layers of a rank, and what the rules
// on layer-wise scales hold. It takes no memory before a status of a gradient
// in fp16 or FP8 comes, and no time with a record before one did.
//
// Statuses of a step travel before its record, which says the scale that was on
// them: until then they wait here.

#ifndef NANWATCH_ENGINE_LAYER_WATCH_H_
#define NANWATCH_ENGINE_LAYER_WATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "detect/layer_context.h"
#include "detect/rules.h"
#include "engine/layer_course.h"
#include "model/op.h"
#include "scaler/layer_range.h"

namespace nanwatch {

// What a gradient's status says, until its record comes.
struct WaitingFit {
  int64_t step = 0;
  uint32_t op = 0;
  Slot slot = Slot::kGradOutput;
  bool bad = false;     // it holds NaN or Inf, or the device flagged it
  int32_t order = -1;   // of its op; -1: not known
  ScaleFit fit;         // no sight: only its size is of interest
  float own_scale = 0;  // log2, told by the status itself (FP8); NaN: none
  float size = 0;       // log2 of its root mean square; NaN: not known
};

class LayerWatch {
 public:
  // Something of a gradient was told.
  bool any() const { return state_ != nullptr; }
  // Layers have scales of their own.
  bool layerwise() const {
    return state_ != nullptr && (state_->declared || !state_->scales.empty());
  }
  // The run declares that they have.
  void Declare();
  void Add(const WaitingFit& fit);

  // Takes in the layer-wise scales of a record.
  void TakeScales(std::span<const LayerScale> scales);
  // Takes what waited for the record of `step`, at `log2_scale` where a layer
  // has none of its own (nullopt: not known), and forgets what waited for
  // earlier ones. `usable`: it did not overflow. True: there was some.
  bool Take(int64_t step, std::optional<double> log2_scale, bool usable,
            const OpNameOf& name);
  // What waits for the record of `step`, with the scale that is on it, in log2.
  // Zeros that no scale can have made have no sight.
  struct Placed {
    uint32_t op = 0;
    ScaleFit fit;
    float scale = 0;
    ScaleOwner owner = ScaleOwner::kRun;
    bool bad = false;
  };
  std::vector<Placed> At(int64_t step, std::optional<double> log2_scale,
                         const OpNameOf& name);
  // Writes what waits for the record of `step` as if all had the scale
  // 2^log2_scale: the range of those in fp16, the first and the last.
  void ToCommon(int64_t step, double log2_scale, const OpNameOf& name,
                StepGradients* gradients);

  // What waits for the record of `step` says of overflows, a layer with a scale
  // of its own each. `forward_bad`: they began in the forward pass, and are
  // none of a layer's scale. Empty where none overflowed, now or before.
  std::vector<LayerTold> Told(int64_t step, bool forward_bad,
                              const OpNameOf& name);
  // Returns how a layer's scale moves; null: it is not followed.
  LayerCourse* CourseOf(uint32_t op);
  // The same; follows it from now on, if there is room.
  LayerCourse* Follow(uint32_t op, const ScalerDeclaration& scaler);

  std::span<const LayerRange> ranges() const;  // by op
  std::span<const LayerSlope> slopes() const;  // by op
  // Null: none has been needed. The pointer is good as long as this.
  LayerRules* rules() {
    return state_ == nullptr || state_->rules.empty() ? nullptr
                                                      : &state_->rules.front();
  }

  template <typename A>
  friend void Fields(A& archive, LayerWatch& w) {
    bool any = w.any();
    archive(any);
    if (!any) return;
    if (w.state_ == nullptr) w.state_ = std::make_unique<State>();
    State& s = *w.state_;
    archive(s.waiting, s.ranges, s.scales, s.homes, s.weights, s.slopes,
            s.rules, s.courses, s.declared);
  }

 private:
  // The layer-wise scale of an op, as of the newest record with any.
  struct Scale {
    uint32_t op = 0;
    float log2 = 0;      // NaN: it is none that a gradient can be scaled with
    float before = 0;    // before the newest change; NaN: not known
    uint16_t stood = 0;  // records since then; saturates
    uint16_t stood_before = 0;  // records with the one before
  };
  // Which scale is on the gradients of an op: of its own name, or of the
  // nearest layer around it.
  struct Home {
    uint32_t op = 0;
    int32_t scale = -1;  // index into scales; -1: none
  };
  // A weight and its layer as of the attempt before, in log2; NaN: not known.
  struct Weight {
    float size = 0;  // of its gradient, against the layer's where that is told
    float scale = 0;
    bool against_layer = false;
  };
  struct State {
    std::vector<WaitingFit> waiting;   // in the order they came
    std::vector<LayerRange> ranges;    // by op
    std::vector<Scale> scales;         // by op
    std::vector<Home> homes;           // by op, of those that were asked for
    std::vector<Weight> weights;       // as slopes
    std::vector<LayerSlope> slopes;    // by op
    std::vector<LayerRules> rules;     // at most one
    std::vector<LayerCourse> courses;  // at most limits::kLayerCoursesPerRank
    bool declared = false;             // layers have scales of their own
    size_t next = 0;  // of ranges: where the next one most likely is
  };

  static void Move(float log2, Scale* scale);
  LayerRange* RangeOf(uint32_t op);
  int32_t HomeOf(uint32_t op, const OpNameOf& name);
  std::optional<float> ScaleOf(const WaitingFit& fit, const OpNameOf& name);
  void TakeWeights(std::span<const WaitingFit> fits, const OpNameOf& name);
  void Move(uint32_t op, const Weight& now);
  std::span<const WaitingFit> Of(int64_t step) const;

  std::unique_ptr<State> state_;  // null: nothing was told
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_LAYER_WATCH_H_
