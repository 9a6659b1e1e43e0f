// How much ops amplify the noise of what they read.

#ifndef NANWATCH_COMPARE_AMPLIFICATION_H_
#define NANWATCH_COMPARE_AMPLIFICATION_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compare/tensor_pair.h"

namespace nanwatch {

// What lies at random in an op's input grows on the way to its output by as
// much as a gradient does on the way back: both are the norm of the op's
// Jacobian. So the backward pass of the good run measures it.
class Amplification {
 public:
  explicit Amplification(const PairedStep& step);

  // Returns how many times larger a share of the output it is than of the
  // input; nullopt: not all four tensors were recorded. Of sketches: a third
  // off, or none where two are nearly the same tensor.
  std::optional<double> Of(const std::string& op) const;

 private:
  struct Tensor {
    double norm = 0;  // 0: not recorded
    double elements = 0;
  };
  struct Op {
    Tensor input, output, grad_output, grad_input;
  };
  void Take(const TensorPair& pair);

  std::map<std::string_view, Op> ops_;
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_AMPLIFICATION_H_
