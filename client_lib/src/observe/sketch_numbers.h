// The numbers that digests and sketches are made with: see proto/SKETCH.md,
// which is normative.

#ifndef NANWATCH_OBSERVE_SKETCH_NUMBERS_H_
#define NANWATCH_OBSERVE_SKETCH_NUMBERS_H_

#include <cstddef>
#include <cstdint>

namespace nanwatch {
namespace {

// A row of a block has an element of each sum.
constexpr size_t kSketchSums = 16;
// So small that the tables stay in the first cache beside the elements.
constexpr size_t kSketchBlock = 1024;
constexpr size_t kSketchRows = kSketchBlock / kSketchSums;

// What the four kinds of numbers begin at: far apart, as all are of one
// sequence.
constexpr uint64_t kKeysFrom = 0;
constexpr uint64_t kFactorsFrom = uint64_t{1} << 62;
constexpr uint64_t kRowSignsFrom = uint64_t{2} << 62;
constexpr uint64_t kBlockSignsFrom = uint64_t{3} << 62;

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 / the golden ratio

// Number `i` of splitmix64's sequence from the seed 0: Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", 2014.
constexpr uint64_t Mixed(uint64_t i) {
  uint64_t x = (i + 1) * kGolden;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
constexpr uint64_t KeyOfPlace(size_t place) {
  return Mixed(kKeysFrom + place) | 1;
}
constexpr uint64_t FactorOfBlock(uint64_t block) {
  return Mixed(kFactorsFrom + block) | 1;
}
// A bit a sum; 1: minus.
constexpr uint64_t SignsOfRow(size_t row) {
  return Mixed(kRowSignsFrom + row) & 0xffff;
}
constexpr uint64_t SignsOfBlock(uint64_t block) {
  return Mixed(kBlockSignsFrom + block) & 0xffff;
}

}  // namespace

// By the place in a block.
struct SketchTables {
  uint32_t key_low[kSketchBlock];
  uint32_t key_high[kSketchBlock];
  uint32_t sign[kSketchBlock];  // 2^31, or 0
};
extern const SketchTables kSketchTables;

}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_SKETCH_NUMBERS_H_
