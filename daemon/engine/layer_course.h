// LayerCourse: how the loss scale of a layer moves that overflowed, judged by
// the rules on the scale of a run.

#ifndef NANWATCH_ENGINE_LAYER_COURSE_H_
#define NANWATCH_ENGINE_LAYER_COURSE_H_

#include <cstdint>
#include <functional>

#include "detect/rules.h"
#include "model/finding.h"
#include "model/run.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// What an update says of a layer with a scale of its own.
struct LayerTold {
  uint32_t op = 0;
  float log2_scale = 0;
  // The scale before the newest change, log2; NaN: none is known.
  float log2_before = 0;
  uint16_t stood = 0;         // records since the newest change, this included
  uint16_t stood_before = 0;  // records with the scale before it
  bool bad = false;           // its gradient holds NaN or Inf, or was flagged
  // ... and nothing before it in the update does: no other layer's doing.
  bool origin = false;
};

// Trivially copyable. Made with the first overflow that is the layer's own;
// what its scale was before, LayerTold tells.
class LayerCourse {
 public:
  LayerCourse() = default;
  LayerCourse(uint32_t op, const ScalerDeclaration& scaler);

  uint32_t op() const { return op_; }
  // False while one of its rules has an opinion.
  bool quiet() const { return rules_.quiet(); }
  Severity severity(size_t rule) const { return rules_.severity(rule); }

  // Calls `changed` with each rule whose opinion is another one than before.
  using Changed = std::function<void(size_t rule)>;
  // Takes in an update; `record` is that of the run.
  void Take(const LayerTold& told, const RunDescription& run,
            const StepRecord& record, const LayerMoveRules::Table& table,
            const Changed& changed);
  // As RuleList::Describe. REQUIRES: the finding's subject names the layer.
  void Describe(size_t rule, Finding* finding) const;

 private:
  void Begin(const LayerTold& told, const RunDescription& run, int64_t step,
             const LayerMoveRules::Table& table);
  void Feed(float log2_scale, bool overflow, const RunDescription& run,
            const StepRecord& record, const LayerMoveRules::Table& table,
            const Changed& changed);
  void FollowStatistics(const ScalerDeclaration& scaler,
                        const Changed& changed);

  ScalerTracker tracker_;
  LayerMoveRules rules_;
  uint32_t op_ = 0;
  float log2_scale_ = 0;  // of the update before
  bool begun_ = false;
  bool was_bad_ = false;      // the update before
  bool statistical_ = false;  // the scale fell though nothing had overflowed
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_LAYER_COURSE_H_
