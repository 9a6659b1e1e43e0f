// How the losses of two runs lie apart.

#ifndef NANWATCH_COMPARE_LOSS_DIFF_H_
#define NANWATCH_COMPARE_LOSS_DIFF_H_

#include <cstdint>
#include <optional>

#include "compare/compared_run.h"

namespace nanwatch {

// The losses of a step, one of them not finite.
struct BadLoss {
  int64_t step = 0;
  double a = 0;
  double b = 0;
};

struct LossDiff {
  size_t steps = 0;  // that both have a loss of
  // The first at which they are not equal, with both.
  std::optional<int64_t> first_step;
  double first_a = 0;
  double first_b = 0;
  // Of means of 20 losses: how far b's lies from a's at most, as a share
  // (negative: below), and at which step. Losses that are 0 or less have none.
  std::optional<double> farthest;
  int64_t farthest_step = 0;
  // The first loss that is not finite in one of them alone.
  std::optional<BadLoss> bad_in_a;
  std::optional<BadLoss> bad_in_b;
};

LossDiff DiffLosses(const ComparedRun& a, const ComparedRun& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_LOSS_DIFF_H_
