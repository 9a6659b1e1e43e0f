// Rule 6, overflow_rate: too many of the last 1000 updates overflowed. How
// often a scaler that rides the edge overflows depends on its growth interval
// alone (window 100: 2 % of all updates, in healthy runs). So each growth earns
// the overflows that take it back, and only those beyond are counted.

#ifndef NANWATCH_DETECT_OVERFLOW_RATE_H_
#define NANWATCH_DETECT_OVERFLOW_RATE_H_

#include "detect/bit_window.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OverflowRate {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit;
  enum Threshold { kWarning, kCritical, kClearBelow };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  BitWindow<1000> excess_;
  int32_t credit_ = 0;  // overflows that growths have earned
  int32_t quiet_ = 0;   // updates since the last overflow
  int32_t count_ = 0;
  int64_t update_ = 0;  // newest seen
  int64_t step_ = 0;    // its
  bool applied_ = false;
  bool left_out_ = false;  // as IsLeftOut
  bool scaled_ = false;    // gradients were scaled at the newest
  bool more_ = false;      // there were others, or may have been
  // Updates until no step without a record is among the last 1000.
  int32_t apart_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OVERFLOW_RATE_H_
