// NoGradient: records in a row whose gradient norm is exactly 0, from the first
// ones on, and whether the loss beside them falls all the same: then the norm
// was not collected, or is printed with too few digits.

#ifndef NANWATCH_DETECT_NO_GRADIENT_H_
#define NANWATCH_DETECT_NO_GRADIENT_H_

#include <cstdint>

#include "detect/context.h"
#include "model/severity.h"

namespace nanwatch {

// Trivially copyable.
class NoGradient {
 public:
  // Takes in the loss of a record whose norm is 0.
  void Add(const StepContext& c, double loss);
  // A norm that is not 0 was seen.
  void End() { *this = NoGradient(); }

  // Returns what that is, by itself and where no record follows.
  Severity severity() const;
  Severity at_end() const;
  // Of those with a loss that is not 0, since the rate was at its highest.
  int32_t records() const { return records_; }
  int64_t step() const { return first_step_; }  // of the first; -1: none
  int64_t newest_step() const { return first_step_ + steps_; }
  // The loss beside them tells that nothing is learned.
  bool by_loss() const { return level_; }

 private:
  static constexpr int32_t kShown = 128;  // records that show learning; ours
  static constexpr int32_t kShownAtEnd = 48;  // of a log that is over; ours
  static constexpr int32_t kLong = 256;  // records: nothing ever came; ours

  // Does the loss stand, as far as that can be said?
  void Look(const StepContext& c);

  int64_t first_step_ = -1;
  int32_t steps_ = 0;  // since that; saturates
  int32_t records_ = 0;
  // Of the losses of those records, as logarithms: the mean, and the sum of
  // what each lies off it times how far its number lies off that of the middle.
  float mean_ = 0;
  float slope_ = 0;
  bool level_ = false;   // the loss keeps one
  bool stands_ = false;  // nothing was learned, as of the newest look
  bool learns_ = false;  // or the loss cannot tell
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NO_GRADIENT_H_
