// Headroom: where the gradients of a step lie between the two ends of their
// format, in bits of loss scale, and which scale would suit them.
//
// Gradients are seen as the device holds them, the loss scale included. All
// bounds are log2 of a factor on the present scale: 0 is the present scale, +1
// twice of it.

#ifndef NANWATCH_SCALER_HEADROOM_H_
#define NANWATCH_SCALER_HEADROOM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "model/op.h"

namespace nanwatch {

// Of a tensor's elements, how many may be lost to underflow: AdaLoss's n_uf.
inline constexpr double kUnderflowAllowed = 1e-3;
// log2 of sqrt(2) erfinv(kUnderflowAllowed): a normal value is that near to 0,
// in deviations, with the allowed probability.
inline constexpr double kNearZeroLog2 = -9.640035842229091;

// Share of standard normal values below x. To 1e-12 of itself; the same on
// every machine, unlike the C library's.
double NormalCdf(double x);

// Predicted share of elements that become zero in a format whose smallest
// positive number is 2^limit, when the scale is multiplied by 2^bits.
// Normal with mean 0: REQUIRES rms > 0, finite.
double UnderflowNormal(double rms, double limit, double bits);
// Log-normal: log2|x| has this mean and deviation. REQUIRES deviation >= 0.
double UnderflowLogNormal(double log2_mean, double log2_std, double limit,
                          double bits);

// The smallest `bits` at which at most kUnderflowAllowed are lost. The inverse
// of the two above; LowestExact, of the elements that are counted (finite, not
// zero), is a whole number.
double LowestNormal(double rms, double limit);
double LowestLogNormal(double log2_mean, double log2_std, double limit);
// nullopt: nothing is counted.
std::optional<int32_t> LowestExact(std::span<const uint64_t> counts,
                                   int32_t first, int32_t limit);

// What is known of one gradient tensor. Absent: not collected.
struct TensorRange {
  Dtype dtype = Dtype::kFp16;
  uint64_t elements = 0;
  std::optional<uint64_t> zeros;
  std::optional<float> rms;
  std::optional<float> log2_mean;
  std::optional<float> log2_std;
};
// LowestExact where exponents were counted; else from the moments. With both
// kinds of moments, the form that they fit is taken: normal values have a
// log2 deviation of 1.60 and a mean of 0.92 bits below their rms. nullopt: not
// collected, or nothing but zeros.
std::optional<double> LowestOf(const TensorRange& range);

// All gradient tensors in fp16 of one step and rank, together. Trivially
// copyable; the order of Add() does not matter.
class GradientRange {
 public:
  // A tensor; `op` names it. `lowest`: LowestOf(); `abs_max`: its largest
  // magnitude. Both may be unknown.
  void Add(uint32_t op, std::optional<double> lowest,
           std::optional<float> abs_max);
  // Its elements and how many of them are zero.
  void AddZeros(uint64_t elements, uint64_t zeros);

  uint32_t tensors() const { return tensors_; }
  // Of those, with a known lower bound.
  uint32_t bounded() const { return bounded_; }
  // Of those, how many lose too much even when the scale is multiplied by
  // 2^bits; `bits` within -16 .. 47, else as at those ends.
  uint32_t Losing(int32_t bits) const;
  // Bits to the largest number of fp16; negative: beyond. nullopt: no largest
  // magnitude was collected, or all are 0.
  std::optional<double> headroom() const;
  // The largest lower bound. REQUIRES: bounded() > 0.
  double lowest() const { return lowest_; }
  uint32_t lowest_op() const { return lowest_op_; }
  uint32_t largest_op() const { return largest_op_; }  // of the largest value
  uint64_t elements() const { return elements_; }      // with counted zeros
  uint64_t zeros() const { return zeros_; }

  // Whole bits by which the scale is best multiplied: as much as all tensors
  // need, but never closer than one bit to the overflow. nullopt: not known.
  std::optional<int32_t> BestBits() const;

 private:
  static constexpr int kBins = 64;
  static constexpr int kFirstBin = -16;
  static int BinOf(double bits);

  double lowest_ = 0;
  uint64_t elements_ = 0;
  uint64_t zeros_ = 0;
  float abs_max_ = -1;  // -1: not collected
  uint32_t tensors_ = 0;
  uint32_t bounded_ = 0;
  uint32_t lowest_op_ = 0;
  uint32_t largest_op_ = 0;
  // Bin i: tensors whose lower bound rounds up to kFirstBin + i. Saturates.
  std::array<uint16_t, kBins> needs_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_HEADROOM_H_
