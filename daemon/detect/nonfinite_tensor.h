// NonfiniteTensor: a tensor that training keeps (a parameter, a moment of the
// optimizer) came to hold NaN or infinities. No later update takes them out: it
// stays so until the attempt ends. weight_nonfinite and
// optimizer_state_nonfinite are made of it.

#ifndef NANWATCH_DETECT_NONFINITE_TENSOR_H_
#define NANWATCH_DETECT_NONFINITE_TENSOR_H_

#include <cstdint>
#include <string>

#include "detect/episode.h"
#include "model/finding.h"
#include "model/op.h"
#include "model/severity.h"

namespace nanwatch {

class NonfiniteTensor {
 public:
  // A status of the tensor. Critical from the first bad element on.
  Severity OnStatus(const OpStatus& status);
  // Step, numbers, and "N NaN and M infinite of K elements"; the rule goes on
  // with whose.
  std::string Describe(Finding* finding) const;
  bool has_nan() const { return nan_ > 0; }  // at the first bad status

 private:
  Episode episode_;
  uint64_t nan_ = 0;  // of the first bad status, as the two that follow
  uint64_t inf_ = 0;
  uint64_t elements_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NONFINITE_TENSOR_H_
