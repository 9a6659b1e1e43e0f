// Rule 2, scale_below_one: a dynamic loss scale below 1 shrinks gradients
// instead of protecting them. A few scalers (fairseq, floor 1e-4) are healthy
// there. Which of several layers an overflow is about is not known. A log may
// begin where the scale is below 1 already and never moves: then the loss says
// how bad it is.

#ifndef NANWATCH_DETECT_SCALE_BELOW_ONE_H_
#define NANWATCH_DETECT_SCALE_BELOW_ONE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleBelowOne {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit | kLayersBit;
  enum Threshold { kHold, kCriticalOverflows, kCriticalScale, kWindow, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const { return below_ > 0; }
  void Describe(Finding* finding) const;

 private:
  // Of a scale that stands: whether the loss does, too.
  class StandingLoss {
   public:
    void Add(float loss);
    bool stands() const { return (losses_ >= kEnough && !fell_) || frozen(); }
    // It is the same to its last digit.
    bool frozen() const { return same_ >= kFrozen; }

   private:
    static constexpr int kFirst = 32;  // losses that make the first level; ours
    static constexpr int kEnough = 96;  // from which on it can be said; ours
    // Losses of four digits are not the same three times while weights move:
    // two in a row are by chance once in 100; ours.
    static constexpr uint8_t kFrozen = 3;

    int32_t losses_ = 0;
    float first_ = 0;
    float level_ = 0;  // of the newest kFirst or so
    float noise_ = 0;  // distance of a loss from it
    float newest_ = 0;
    uint8_t same_ = 0;  // in a row, as the newest; kFrozen at most
    bool fell_ = false;
  };

  void LookAtLayers(const StepContext& c, Thresholds t);
  // Never seen to move, and nothing is learned with it.
  bool IsDead(const StepContext& c);
  Severity LookAtScale(const StepContext& c, double scale, Thresholds t);

  Episode episode_;
  LayerEpisode layers_;
  double scale_ = 0;
  int32_t below_ = 0;         // updates in a row
  int32_t overflows_ = 0;     // of those
  int32_t since_growth_ = 0;  // of those since the scale last grew
  int32_t overflow_at_ = 0;   // below_ at the newest overflow
  float overflow_scale_ = 0;  // and the scale; 0: none was below 1
  int32_t layer_below_ = 0;   // records in a row with a layer below 1
  StandingLoss loss_;         // while it is below 1
  int64_t since_ = 0;         // the step since which it is
  bool dead_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_BELOW_ONE_H_
