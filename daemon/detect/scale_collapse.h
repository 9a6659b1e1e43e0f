// Rule 4, scale_collapse: the loss scale fell far within few updates, from a
// scale at which an update went well: a descent from a start scale that never
// worked is no collapse. A statistical scaler moves as it likes and is not
// judged.

#ifndef NANWATCH_DETECT_SCALE_COLLAPSE_H_
#define NANWATCH_DETECT_SCALE_COLLAPSE_H_

#include <cstdint>

#include "detect/block_maximum.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleCollapse {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold {
    kWarningRatio,
    kCriticalRatio,
    kClearRatio,
    kClear,
    kNearFloor
  };
  // Updates counted between two records at most: steps need not be updates.
  static constexpr int64_t kUnseen = 9;  // ours

  Severity OnStep(const StepContext& c, Thresholds t);
  // Where overflow followed overflow to the end.
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;

 private:
  void NoteRow(const StepContext& c, double far, double low);

  Episode episode_;
  BlockMaximum<10, 5> worked_50_;
  BlockMaximum<10, 20> worked_200_;
  double scale_ = 0;
  double from_ = 0;
  int64_t to_floor_ = -1;  // updates; -1: no forecast
  int64_t update_ = 0;     // newest seen
  // Of the newest record: overflows in a row, and from which step; its scale;
  // the largest at which an update went well; the lowest that is far from the
  // floor.
  int64_t row_ = 0;
  int64_t row_step_ = 0;
  int64_t step_ = 0;
  double present_ = 0;
  double row_from_ = 0;
  double low_ = 0;
  float worked_ = 0;  // then
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_COLLAPSE_H_
