// RobustBaseline: centre and spread of a healthy level, undisturbed by outliers
// and cheap enough for every record.

#ifndef NANWATCH_DETECT_ROBUST_BASELINE_H_
#define NANWATCH_DETECT_ROBUST_BASELINE_H_

#include <array>
#include <cstdint>

namespace nanwatch {

// Definition: values come in blocks of 16; the baseline looks at the last 8
// complete blocks, so it moves every 16 values. Its centre is the median of the
// blocks' medians. Its spread is 1.4826 times the larger of two: the median of
// the blocks' median absolute deviations, and the median absolute deviation of
// the blocks' medians. The second makes a drifting level wide, not anomalous.
// (A median over all 128 would cost 90 ns a record; this is 5, in 130 bytes.)
//
// The caller adds healthy values only and says so of the others with Reject.
// When every one of 2 x 128 values in a row was rejected the new level is
// there to stay, and the baseline begins anew. Trivially copyable.
class RobustBaseline {
 public:
  static constexpr int kBlock = 16;  // values; ours
  static constexpr int kBlocks = 8;  // 128 values in all, llm.c's window
  static constexpr int kWindow = kBlock * kBlocks;

  // REQUIRES: value is finite.
  void Add(float value) {
    rejected_ = 0;
    block_[filled_++] = value;
    if (filled_ == kBlock) Close();
  }
  void Reject() {
    if (++rejected_ >= 2 * kWindow) *this = RobustBaseline();
  }

  // Values that the centre and the spread stand on, 0 .. kWindow.
  int samples() const { return blocks_ * kBlock; }
  // REQUIRES: samples() > 0.
  float center() const { return center_; }
  float spread() const { return spread_; }

 private:
  void Close();

  float center_ = 0;
  float spread_ = 0;
  std::array<float, kBlock> block_{};
  std::array<float, kBlocks> medians_{};
  std::array<float, kBlocks> deviations_{};
  int16_t rejected_ = 0;
  int8_t filled_ = 0;
  int8_t blocks_ = 0;
  int8_t at_ = 0;
};

// REQUIRES: no value is NaN.
float MedianOf(std::array<float, RobustBaseline::kBlock> values);

// Median of 16 values, and 1.4826 times their median absolute deviation.
struct Level {
  float center = 0;
  float spread = 0;
};
// REQUIRES: all values are finite.
Level LevelOf(const std::array<float, RobustBaseline::kBlock>& values);

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_ROBUST_BASELINE_H_
