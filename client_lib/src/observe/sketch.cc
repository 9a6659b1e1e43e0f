// nanwatch_sketch_add and nanwatch_sketch_add_rows, and the tables of the
// kernels.

#include <nanwatch.h>
#include <nanwatch_sketch.h>

#include <limits>

#include "sketch_numbers.h"
#include "tally.h"

namespace nanwatch {
namespace {

constexpr SketchTables MakeTables() {
  SketchTables tables{};
  for (size_t i = 0; i < kSketchBlock; ++i) {
    const uint64_t key = KeyOfPlace(i);
    tables.key_low[i] = static_cast<uint32_t>(key);
    tables.key_high[i] = static_cast<uint32_t>(key >> 32);
    const uint64_t signs = SignsOfRow(i / kSketchSums);
    tables.sign[i] = static_cast<uint32_t>(signs >> (i % kSketchSums) & 1)
                     << 31;
  }
  return tables;
}

// What float cannot hold (of fp64) becomes the largest float.
float ToFloat(double sum) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (sum > kMost) return std::numeric_limits<float>::max();
  if (sum < -kMost) return std::numeric_limits<float>::lowest();
  return static_cast<float>(sum);
}

}  // namespace

extern constinit const SketchTables kSketchTables = MakeTables();

}  // namespace nanwatch

extern "C" {

int nanwatch_sketch_add(nanwatch_sketch* sketch, const void* data, size_t n,
                        nanwatch_dtype dtype, unsigned what, uint64_t first) {
  return nanwatch_sketch_add_rows(sketch, data, 1, n, n, dtype, what, first, n);
}

int nanwatch_sketch_add_rows(nanwatch_sketch* sketch, const void* data,
                             size_t rows, size_t columns, size_t row_stride,
                             nanwatch_dtype dtype, unsigned what,
                             uint64_t first, uint64_t first_stride) {
  using namespace nanwatch;
  const size_t bytes = ElementBytes(dtype);
  if (sketch == nullptr || bytes == 0) return 0;
  if (data == nullptr && rows > 0 && columns > 0) return 0;
  SketchTally tally;
  const SketchFunction add = BestVariant().sketch;
  const auto* from = static_cast<const unsigned char*>(data);
  for (size_t row = 0; row < rows && columns > 0; ++row) {
    add(from + row * row_stride * bytes, columns, dtype,
        first + row * first_stride, what, &tally);
  }
  sketch->digest += tally.digest;
  for (size_t j = 0; j < kSketchSums; ++j) sketch->sums[j] += tally.sums[j];
  sketch->nan += tally.nan;
  sketch->inf += tally.inf;
  return 1;
}

void nanwatch_sketch_floats(const nanwatch_sketch* sketch, float* floats) {
  using namespace nanwatch;
  if (sketch == nullptr || floats == nullptr) return;
  for (size_t j = 0; j < kSketchSums; ++j) {
    floats[j] = ToFloat(sketch->sums[j]);
  }
}

}  // extern "C"
