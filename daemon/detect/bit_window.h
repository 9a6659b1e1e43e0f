// BitWindow: yes or no for each of the last N updates, and how many are yes.

#ifndef NANWATCH_DETECT_BIT_WINDOW_H_
#define NANWATCH_DETECT_BIT_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace nanwatch {

// Trivially copyable. N < 65536.
template <int N>
class BitWindow {
 public:
  void Push(bool bit) {
    if (bit || ones_ != 0) Write(bit);  // without a yes all words are 0
    at_ = at_ + 1 == N ? 0 : at_ + 1;
    size_ = size_ == N ? N : size_ + 1;
  }
  // `count` updates of no.
  void Skip(int64_t count) {
    if (count <= 0) return;
    if (ones_ != 0) {
      for (int64_t i = 0; i < std::min<int64_t>(count, N); ++i) Push(false);
      return;
    }
    at_ = static_cast<uint16_t>((at_ + count) % N);
    size_ = static_cast<uint16_t>(std::min<int64_t>(size_ + count, N));
  }
  // The newest one becomes a yes. REQUIRES: size() > 0.
  void SetNewest() {
    const int newest = at_ == 0 ? N - 1 : at_ - 1;
    uint64_t& word = words_[newest / 64];
    const uint64_t mask = uint64_t{1} << (newest % 64);
    ones_ += (word & mask) == 0;
    word |= mask;
  }
  int ones() const { return ones_; }
  int size() const { return size_; }

 private:
  void Write(bool bit) {
    uint64_t& word = words_[at_ / 64];
    const uint64_t mask = uint64_t{1} << (at_ % 64);
    ones_ -= (word & mask) != 0;
    ones_ += bit;
    word = bit ? word | mask : word & ~mask;
  }

  std::array<uint64_t, (N + 63) / 64> words_{};
  uint16_t at_ = 0;
  uint16_t ones_ = 0;
  uint16_t size_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_BIT_WINDOW_H_
