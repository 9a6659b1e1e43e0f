// nanwatch_observe: chooses the instruction set, and puts a tally into a
// status.

#include <nanwatch.h>
#include <nanwatch_sketch.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tally.h"

namespace nanwatch {
namespace {

// A statistic of finite elements stays finite: what float cannot hold (of
// fp64) becomes the largest float.
float ToFloat(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (value > kMost) return std::numeric_limits<float>::max();
  if (value < -kMost) return std::numeric_limits<float>::lowest();
  return static_cast<float>(value);
}

void Set(nanwatch_op_status* out, uint32_t bit, float* field, double value) {
  *field = ToFloat(value);
  out->present |= bit;
}

void SetCounts(const Tally& tally, nanwatch_op_status* out) {
  out->nan = tally.nan;
  out->pos_inf = tally.pos_inf;
  out->neg_inf = tally.neg_inf;
  out->saturated = tally.saturated;
  out->zero = tally.zero;
  out->subnormal = tally.subnormal;
  out->present |= NANWATCH_OP_NAN | NANWATCH_OP_POS_INF | NANWATCH_OP_NEG_INF |
                  NANWATCH_OP_SATURATED | NANWATCH_OP_ZERO |
                  NANWATCH_OP_SUBNORMAL;
}

// Leaves out the empty bins on both sides.
void SetExponents(const uint64_t* counts, size_t bins, int lowest,
                  nanwatch_exponents* out) {
  size_t begin = 0;
  size_t end = bins;
  while (begin < end && counts[begin] == 0) ++begin;
  while (end > begin && counts[end - 1] == 0) --end;
  out->first = begin == end ? 0 : lowest + static_cast<int>(begin);
  out->size = static_cast<uint32_t>(end - begin);
  std::memcpy(out->counts, counts + begin, (end - begin) * sizeof(*counts));
}

void SetStatus(const Tally& tally, size_t n, unsigned what,
               nanwatch_op_status* out) {
  out->elements = n;
  out->present |= NANWATCH_OP_ELEMENTS;
  const uint64_t finite = n - tally.nan - tally.pos_inf - tally.neg_inf;
  if (what & NANWATCH_OBSERVE_COUNTS) SetCounts(tally, out);
  if (finite == 0) return;
  if (what & NANWATCH_OBSERVE_COUNTS) {
    Set(out, NANWATCH_OP_ABS_MAX, &out->abs_max, tally.abs_max);
  }
  if (what & NANWATCH_OBSERVE_RMS) {
    Set(out, NANWATCH_OP_RMS, &out->rms, std::sqrt(tally.mean_square));
  }
  if (what & NANWATCH_OBSERVE_RANGE) {
    Set(out, NANWATCH_OP_MIN, &out->min, tally.min);
    Set(out, NANWATCH_OP_MAX, &out->max, tally.max);
    Set(out, NANWATCH_OP_MEAN, &out->mean, tally.mean);
  }
  if ((what & NANWATCH_OBSERVE_LOG2) && finite > tally.zero) {
    Set(out, NANWATCH_OP_LOG2_MEAN, &out->log2_mean, tally.log2_mean);
    Set(out, NANWATCH_OP_LOG2_STD, &out->log2_std, tally.log2_std);
  }
}

void SetSketch(const void* data, size_t n, nanwatch_dtype dtype, unsigned what,
               nanwatch_op_status* out) {
  nanwatch_sketch sketch;
  nanwatch_sketch_init(&sketch);
  nanwatch_sketch_add(&sketch, data, n, dtype, what, 0);
  if (what & NANWATCH_OBSERVE_DIGEST) {
    out->digest = sketch.digest;
    out->present |= NANWATCH_OP_DIGEST;
  }
  if ((what & NANWATCH_OBSERVE_SKETCH) != 0 && out->sketch != nullptr) {
    nanwatch_sketch_floats(&sketch, out->sketch);
  }
}

}  // namespace
}  // namespace nanwatch

extern "C" int nanwatch_observe(const void* data, size_t n,
                                nanwatch_dtype dtype, unsigned what,
                                nanwatch_op_status* out) {
  using namespace nanwatch;
  if (out == nullptr || (data == nullptr && n > 0)) return 0;
  if (ElementBytes(dtype) == 0) return 0;
  uint64_t exponents[NANWATCH_EXPONENT_BINS];
  const bool wants_exponents =
      (what & NANWATCH_OBSERVE_EXPONENTS) != 0 && out->exponents != nullptr;
  const int lowest = LowestExponent(dtype);
  const size_t bins = static_cast<size_t>(HighestExponent(dtype) - lowest + 1);
  Tally tally;
  if (wants_exponents) {
    std::memset(exponents, 0, bins * sizeof(exponents[0]));
    tally.exponents = exponents;
  }
  BestVariant().function(data, n, dtype, what, &tally);
  SetStatus(tally, n, what, out);
  if (what & (NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH)) {
    SetSketch(data, n, dtype, what, out);
  }
  if (wants_exponents) SetExponents(exponents, bins, lowest, out->exponents);
  return 1;
}
