#include "detect/robust_baseline.h"

#include <algorithm>
#include <array>
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

// Two comparisons of their own: g++ makes one of them a branch, which noise
// mispredicts, but these a minss and a maxss.
inline void Order(float& a, float& b) {
  const float x = a;
  const float y = b;
  a = x < y ? x : y;
  b = x > y ? x : y;
}

// In registers, so the network is written out.
template <size_t N>
void Sort(std::array<float, N>* values) {
  constexpr auto kNetwork = Network<static_cast<int>(N)>();
  std::array<float, N> sorted = *values;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (Order(sorted[kNetwork.first[I].first], sorted[kNetwork.first[I].second]),
     ...);
  }
  (std::make_index_sequence<static_cast<size_t>(kNetwork.second)>());
  *values = sorted;
}

// Of the first `size` values; sorts them. REQUIRES: 0 < size <= N.
template <size_t N>
float Median(std::array<float, N>* values, size_t size) {
  for (size_t i = size; i < N; ++i) (*values)[i] = kAfterAll;
  Sort(values);
  const size_t half = size / 2;
  return size % 2 == 1 ? (*values)[half]
                       : ((*values)[half - 1] + (*values)[half]) / 2;
}

// Median absolute deviation of the first `size` values from their median
// `center`. They are sorted, so the deviations to its left and to its right are
// too, and the k-th smallest of both is the best split of k between them.
float Deviation(const float* sorted, size_t size, float center) {
  const size_t half = size / 2;
  const auto smallest = [&](size_t k) {
    float best = kAfterAll;
    const size_t right = size - half;
    for (size_t i = k > right ? k - right : 0; i <= std::min(k, half); ++i) {
      const float l = i > 0 ? center - sorted[half - i] : 0;
      const float r = k > i ? sorted[half + k - i - 1] - center : 0;
      const float larger = l > r ? l : r;
      best = larger < best ? larger : best;
    }
    return best;
  };
  return size % 2 == 1 ? smallest(half + 1)
                       : (smallest(half) + smallest(half + 1)) / 2;
}

}  // namespace

void RobustBaseline::Close() {
  filled_ = 0;
  medians_[at_] = Median(&block_, kBlock);
  deviations_[at_] = Deviation(block_.data(), kBlock, medians_[at_]);
  at_ = static_cast<int8_t>((at_ + 1) % kBlocks);
  if (blocks_ < kBlocks) ++blocks_;
  std::array<float, kBlocks> medians = medians_;
  std::array<float, kBlocks> deviations = deviations_;
  const auto seen = static_cast<size_t>(blocks_);
  center_ = Median(&medians, seen);
  const float between = Deviation(medians.data(), seen, center_);
  const float within = Median(&deviations, seen);
  spread_ = 1.4826f * std::max(between, within);
}

float MedianOf(std::array<float, RobustBaseline::kBlock> values) {
  return Median(&values, values.size());
}

Level LevelOf(const std::array<float, RobustBaseline::kBlock>& values) {
  std::array<float, RobustBaseline::kBlock> sorted = values;
  const float center = Median(&sorted, sorted.size());
  return {center, 1.4826f * Deviation(sorted.data(), sorted.size(), center)};
}

}  // namespace nanwatch
