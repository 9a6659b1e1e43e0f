// TensorStatistics: what a dump without the elements says of a tensor, and what
// two of them say of how far their tensors lie apart.

#ifndef NANWATCH_COMPARE_TENSOR_STATISTICS_H_
#define NANWATCH_COMPARE_TENSOR_STATISTICS_H_

#include <cstdint>
#include <optional>

namespace nanwatch {

struct TensorStatistics {
  // Of all elements, finite or not; absent: not collected.
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> mean;
  std::optional<double> norm;
  // Equal where the bits are, and of one program alone; absent: none.
  std::optional<uint64_t> checksum;
  // By how much a number may be off, as it is printed with few digits: as a
  // share of it, and in its own unit.
  double rounded_share = 0;
  double rounded_by = 0;
};

// Returns whether all numbers are equal that both have; nullopt: there are
// none.
std::optional<bool> AreEqual(const TensorStatistics& a,
                             const TensorStatistics& b);
// Returns a lower bound of the norm of the difference: it is no less than the
// difference of the norms, of the largest or of the smallest elements, and than
// that of the means times the root of `elements`. nullopt: no such number is
// finite in both.
std::optional<double> LeastDifference(const TensorStatistics& a,
                                      const TensorStatistics& b,
                                      uint64_t elements);
// Returns the norm, or where there is none the most that it can be; nullopt:
// not known.
std::optional<double> MostNorm(const TensorStatistics& statistics,
                               uint64_t elements);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_TENSOR_STATISTICS_H_
