// Floors: how far repeats of one program lie apart, tensor by tensor. What lies
// no farther apart in two other runs needs no cause.

#ifndef NANWATCH_COMPARE_FLOORS_H_
#define NANWATCH_COMPARE_FLOORS_H_

#include <cstdint>
#include <map>

#include "compare/compared_run.h"
#include "compare/tensor_pair.h"

namespace nanwatch {

// Of few repeats the largest distance was seen: another pair may lie so many
// times farther apart. Ours.
inline constexpr double kOfRepeats = 4;

// Roundings in fp32 grow as the root of the layers before, of so many tensors
// each. Ours, an estimate.
inline constexpr double kOpsALayer = 8;

// Of one step, as shares.
struct StepFloors {
  double loss = 0;
  std::map<TensorName, double> tensors;  // those that are not 0
};

class Floors {
 public:
  // Of two repeats of the program.
  void Take(const ComparedRun& a, const ComparedRun& b);
  // Sets `usual` of the pairs of a step. Repeats part from step to step: what
  // the last recorded step before it had counts.
  void Apply(PairedStep* paired) const;
  double LossAt(int64_t step) const;

  std::map<int64_t, StepFloors> steps;

 private:
  const StepFloors* At(int64_t step) const;
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_FLOORS_H_
