// Random: SplitMix64, the same numbers from the same seed everywhere.

#ifndef NANWATCH_WORD2VEC_RANDOM_H_
#define NANWATCH_WORD2VEC_RANDOM_H_

#include <cstdint>

namespace word2vec {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 .. bound - 1; the bias of 2^-32 does not matter here.
  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>((Next() >> 32) * bound >> 32);
  }
  // 0 <= x < 1.
  double Fraction() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_RANDOM_H_
