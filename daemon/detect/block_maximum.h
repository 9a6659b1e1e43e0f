// BlockMaximum: the largest value of a window, at a comparison a value.

#ifndef NANWATCH_DETECT_BLOCK_MAXIMUM_H_
#define NANWATCH_DETECT_BLOCK_MAXIMUM_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace nanwatch {

// The window is the last kBlocks complete blocks of kBlock values and the block
// that is being filled: kBlock * kBlocks values, and up to kBlock more. That is
// its definition, and its reference has it too. Trivially copyable. Values are
// >= 0; the maximum of nothing is 0.
template <int kBlock, int kBlocks>
class BlockMaximum {
 public:
  void Push(float value) {
    current_ = std::max(current_, value);
    if (++filled_ < kBlock) return;
    blocks_[at_] = current_;
    at_ = (at_ + 1) % kBlocks;
    filled_ = 0;
    current_ = 0;
    complete_ = *std::max_element(blocks_.begin(), blocks_.end());
  }
  // `count` times the same value.
  void Push(float value, int64_t count) {
    constexpr int64_t kWindow = kBlock * kBlocks;
    // Whole windows more leave what one leaves.
    if (count > 2 * kWindow) count = kWindow + count % kWindow;
    for (int64_t i = 0; i < count; ++i) Push(value);
  }
  float maximum() const { return std::max(current_, complete_); }

 private:
  std::array<float, kBlocks> blocks_{};
  float current_ = 0;
  float complete_ = 0;
  uint16_t filled_ = 0;
  uint16_t at_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_BLOCK_MAXIMUM_H_
