// The tensors of two runs, paired step by step, and each step with those beside
// it.

#ifndef NANWATCH_COMPARE_PAIRED_STEPS_H_
#define NANWATCH_COMPARE_PAIRED_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compare/floors.h"
#include "compare/lower_noise.h"
#include "compare/tensor_pair.h"

namespace nanwatch {

// A step, and of those beside it as many as say together what noise is.
struct StepAndNear {
  std::span<const PairedStep> steps;
  // Of each, what it says of its pairs; of fp32 nothing.
  std::span<const std::vector<LowerApart>> apart;
  size_t at = 0;  // which of them it is

  const PairedStep& step() const { return steps[at]; }
};

class PairedSteps {
 public:
  // `floors`: null: none.
  PairedSteps(const ComparedRun& a, const ComparedRun& b, const Floors* floors);

  const std::vector<int64_t>& steps() const { return steps_; }
  // Returns the step with this index in steps(). Call with rising ones; what it
  // returned before is no longer valid.
  StepAndNear At(size_t index);

 private:
  const ComparedRun& a_;
  const ComparedRun& b_;
  const Floors* const floors_;
  const std::vector<int64_t> steps_;
  size_t first_ = 0;  // which of steps_ the first in held_ is
  std::vector<PairedStep> held_;
  std::vector<std::vector<LowerApart>> apart_;  // of each in held_
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_PAIRED_STEPS_H_
