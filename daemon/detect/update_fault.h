// Rule 62, update_fault: the client saw that updates are made in a way that
// learns nothing, or not from these gradients: no backward pass, gradients that
// are cleared before the update or never, an optimizer that holds other
// weights, that is never called, or whose learning rate is 0 or too low to move
// a weight; a part of the model that none updates.

#ifndef NANWATCH_DETECT_UPDATE_FAULT_H_
#define NANWATCH_DETECT_UPDATE_FAULT_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/op_name_text.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class UpdateFaultRule {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUpdateFactsBit;
  enum Threshold { kHold, kHoldZero, kClear, kIdleHold, kIdleShare };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  int64_t since_ = 0;
  int64_t update_ = 0;  // of the newest record that it saw
  int32_t held_ = 0;    // updates with the same fault
  int32_t told_ = 0;    // of them, when it was said last
  float rate_ = 0;      // with which they began, where that moves no weight
  UpdateFault fault_ = UpdateFault::kNone;
  UpdateFault said_ = UpdateFault::kNone;
  PartNameText of_{};       // of the model, or the optimizer, that is meant
  bool ever_fine_ = false;  // an update without any was told
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_UPDATE_FAULT_H_
