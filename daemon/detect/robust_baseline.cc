#include "detect/robust_baseline.h"

#include <bit>
#include <cmath>
#include <span>

namespace nanwatch {
namespace {

void Sort(std::span<float> values) {
  for (size_t i = 1; i < values.size(); ++i) {
    const float value = values[i];
    size_t j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}

// Sorts `values`. REQUIRES: not empty.
float Median(std::span<float> values) {
  Sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

// Median absolute deviation; overwrites `values`.
float Deviation(std::span<float> values, float center) {
  for (float& value : values) value = std::fabs(value - center);
  return Median(values);
}

}  // namespace

void RobustBaseline::Close() {
  filled_ = 0;
  medians_[at_] = Median(block_);
  deviations_[at_] = Deviation(block_, medians_[at_]);
  at_ = static_cast<int8_t>((at_ + 1) % kBlocks);
  if (blocks_ < kBlocks) ++blocks_;
  std::array<float, kBlocks> medians = medians_;
  std::array<float, kBlocks> deviations = deviations_;
  const std::span<float> seen(medians.data(), blocks_);
  center_ = Median(seen);
  const float between = Deviation(seen, center_);
  const float within = Median(std::span<float>(deviations.data(), blocks_));
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
