// Rule 8, overflow_not_scale_dependent: an op stays bad however low the loss
// scale goes, or makes NaN in the forward pass: no scale can help. A fixed
// scale gives no evidence here, see persistent_op_overflow.

#ifndef NANWATCH_DETECT_OVERFLOW_NOT_SCALE_DEPENDENT_H_
#define NANWATCH_DETECT_OVERFLOW_NOT_SCALE_DEPENDENT_H_

#include <array>

#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OverflowNotScaleDependent {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kHalvings, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  void CountScale(double scale);
  int Halvings() const;

  OpEpisode episode_;
  std::array<uint64_t, 4> exponents_{};  // scale exponents -128 .. 127, a bit
  int64_t below_ = 0;  // exponents below those, each lower than the one before
  double scale_high_ = 0;
  double scale_low_ = 0;
  int64_t good_steps_ = 0;  // of the rank, at the last bad status
  uint64_t nan_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OVERFLOW_NOT_SCALE_DEPENDENT_H_
