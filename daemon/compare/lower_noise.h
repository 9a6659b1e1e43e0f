// What one step says of how far tensors of a lower format lie apart.

#ifndef NANWATCH_COMPARE_LOWER_NOISE_H_
#define NANWATCH_COMPARE_LOWER_NOISE_H_

#include <vector>

#include "compare/tensor_pair.h"

namespace nanwatch {

// Of a pair; 0: it is equal, or could not be compared.
struct LowerApart {
  double excess = 0;  // times what is usual of it
  double gain = 0;    // times what it was made of
  // Of its sketch's sums one stands out by so many times the others.
  double outlier = 0;
  // Times the most that the same op of another layer has, in both; 0: it does
  // not stand out in one of them.
  double of_peers = 0;
};

// Of each pair of the step.
std::vector<LowerApart> ApartInLower(const PairedStep& step);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_LOWER_NOISE_H_
