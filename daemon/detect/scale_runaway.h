// Rule 11, scale_runaway: nothing bounds the loss scale. A scaler without a
// ceiling doubles it for as long as no gradient overflows, and fp16 gradients
// that are not all zero do overflow: between the smallest and the largest
// number of fp16 lie 2^40. A scale beyond that says that gradients are zero, or
// are no fp16 numbers at all (a scaler around BF16), and its end is infinity,
// where every update is lost at once.

#ifndef NANWATCH_DETECT_SCALE_RUNAWAY_H_
#define NANWATCH_DETECT_SCALE_RUNAWAY_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleRunaway {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kInfo, kWarning, kCritical, kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const { return above_ > 0; }
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double scale_ = 0;
  double first_scale_ = 0;
  int64_t since_step_ = 0;
  int64_t above_ = 0;  // updates in a row
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_RUNAWAY_H_
