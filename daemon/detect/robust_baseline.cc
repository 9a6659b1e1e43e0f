#include "detect/robust_baseline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace nanwatch {
namespace {

constexpr float kAfterAll = std::numeric_limits<float>::infinity();

// Batcher's odd-even merge sort: the same comparisons whatever the values, so
// nothing for the processor to mispredict.
template <int N>
constexpr auto Network() {
  std::array<std::pair<uint8_t, uint8_t>, N * N> pairs{};
  int count = 0;
  for (int p = 1; p < N; p *= 2) {
    for (int k = p; k >= 1; k /= 2) {
      for (int j = k % p; j + k < N; j += 2 * k) {
        for (int i = 0; i < k && i + j + k < N; ++i) {
          if ((i + j) / (2 * p) != (i + j + k) / (2 * p)) continue;
          pairs[count++] = {static_cast<uint8_t>(i + j),
                            static_cast<uint8_t>(i + j + k)};
        }
      }
    }
  }
  return std::pair(pairs, count);
}

template <size_t N>
void Sort(std::array<float, N>* values) {
  static constexpr auto kNetwork = Network<static_cast<int>(N)>();
  for (int i = 0; i < kNetwork.second; ++i) {
    float& a = (*values)[kNetwork.first[i].first];
    float& b = (*values)[kNetwork.first[i].second];
    const float low = std::min(a, b);
    b = std::max(a, b);
    a = low;
  }
}

// Of the first `size` values. Reorders them. REQUIRES: 0 < size <= N.
template <size_t N>
float Median(std::array<float, N>* values, size_t size) {
  for (size_t i = size; i < N; ++i) (*values)[i] = kAfterAll;
  Sort(values);
  const size_t half = size / 2;
  return size % 2 == 1 ? (*values)[half]
                       : ((*values)[half - 1] + (*values)[half]) / 2;
}

// Median absolute deviation; overwrites `values`.
template <size_t N>
float Deviation(std::array<float, N>* values, size_t size, float center) {
  for (float& value : *values) value = std::fabs(value - center);
  return Median(values, size);
}

}  // namespace

void RobustBaseline::Close() {
  filled_ = 0;
  medians_[at_] = Median(&block_, kBlock);
  deviations_[at_] = Deviation(&block_, kBlock, medians_[at_]);
  at_ = static_cast<int8_t>((at_ + 1) % kBlocks);
  if (blocks_ < kBlocks) ++blocks_;
  std::array<float, kBlocks> medians = medians_;
  std::array<float, kBlocks> deviations = deviations_;
  const auto seen = static_cast<size_t>(blocks_);
  center_ = Median(&medians, seen);
  const float between = Deviation(&medians, seen, center_);
  const float within = Median(&deviations, seen);
  spread_ = 1.4826f * std::max(between, within);
}

float Log2(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  int exponent = static_cast<int>(bits >> 23) - 127;
  bits = (bits & 0x7fffffu) | 0x3f800000u;
  float m = std::bit_cast<float>(bits);
  if (m > 1.41421356f) {
    m *= 0.5f;
    ++exponent;
  }
  const float t = (m - 1) / (m + 1);
  const float t2 = t * t;
  const float series = 1 + t2 * (1.0f / 3 + t2 * (1.0f / 5 + t2 * (1.0f / 7)));
  return static_cast<float>(exponent) + 2.88539008f * t * series;
}

}  // namespace nanwatch
