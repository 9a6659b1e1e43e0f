// nanwatch_observe over 64 MB, one thread, beside a memory read of as many
// bytes: memchr for a byte that is not there, the C library's fastest scan.

#include <benchmark/benchmark.h>
#include <nanwatch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t kBytes = 64 << 20;

// A normal distribution, sum of twelve even ones, of deviation 1.
double Normal(uint64_t* state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += static_cast<double>(*state >> 40) * 0x1p-24;
  }
  return sum;
}

uint16_t Half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000;
  if (std::fabs(value) < 0x1p-14f) {  // subnormal
    return static_cast<uint16_t>(
        sign | static_cast<uint32_t>(std::fabs(value) * 0x1p24f));
  }
  return static_cast<uint16_t>(sign | ((bits & 0x7fffffff) - 0x38000000) >> 13);
}

void Append(nanwatch_dtype dtype, double value, unsigned char* to) {
  const float narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  const uint16_t half = Half(narrow);
  const uint16_t bf16 = static_cast<uint16_t>(bits >> 16);
  switch (dtype) {
    case NANWATCH_FP64:
      std::memcpy(to, &value, 8);
      break;
    case NANWATCH_FP32:
      std::memcpy(to, &narrow, 4);
      break;
    case NANWATCH_FP16:
      std::memcpy(to, &half, 2);
      break;
    case NANWATCH_BF16:
      std::memcpy(to, &bf16, 2);
      break;
    default:
      *to = static_cast<unsigned char>(half >> 8);
      break;  // e5m2
  }
}

// `pattern` values, again and again: drawing them all would take long.
std::vector<unsigned char> Values(nanwatch_dtype dtype, size_t bytes) {
  constexpr size_t kPattern = 1 << 18;
  uint64_t state = 1;
  std::vector<unsigned char> data(kBytes);
  for (size_t i = 0; i < kPattern; ++i) {
    Append(dtype, Normal(&state), &data[i * bytes]);
  }
  const size_t done = kPattern * bytes;
  for (size_t at = done; at < kBytes; at += done) {
    std::memcpy(&data[at], data.data(), std::min(done, kBytes - at));
  }
  return data;
}

void Read(benchmark::State& state) {
  std::vector<unsigned char> data(kBytes, 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::memchr(data.data(), 2, kBytes));
  }
  state.SetBytesProcessed(static_cast<int64_t>(kBytes) * state.iterations());
}
BENCHMARK(Read)->Name("read");

void Observe(benchmark::State& state, nanwatch_dtype dtype, size_t bytes,
             unsigned what) {
  const std::vector<unsigned char> data = Values(dtype, bytes);
  nanwatch_exponents exponents;
  float sketch[NANWATCH_SKETCH_SUMS];
  for (auto _ : state) {
    nanwatch_op_status status;
    nanwatch_op_status_init(&status, 0, 0, NANWATCH_SLOT_OUTPUT);
    status.exponents = &exponents;
    status.sketch = sketch;
    nanwatch_observe(data.data(), kBytes / bytes, dtype, what, &status);
    benchmark::DoNotOptimize(status);
  }
  state.SetBytesProcessed(static_cast<int64_t>(kBytes) * state.iterations());
}

constexpr unsigned kCountsRms = NANWATCH_OBSERVE_COUNTS | NANWATCH_OBSERVE_RMS;
constexpr unsigned kSketch = NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH;

#define NANWATCH_OBSERVE_BENCH(NAME, DTYPE, BYTES)                        \
  BENCHMARK_CAPTURE(Observe, NAME##_counts_rms, DTYPE, BYTES, kCountsRms) \
      ->Name("observe/" #NAME "/counts_rms");                             \
  BENCHMARK_CAPTURE(Observe, NAME##_everything, DTYPE, BYTES,             \
                    NANWATCH_OBSERVE_ALL)                                 \
      ->Name("observe/" #NAME "/everything");                             \
  BENCHMARK_CAPTURE(Observe, NAME##_sketch, DTYPE, BYTES, kSketch)        \
      ->Name("observe/" #NAME "/digest_sketch")

NANWATCH_OBSERVE_BENCH(fp16, NANWATCH_FP16, 2);
NANWATCH_OBSERVE_BENCH(bf16, NANWATCH_BF16, 2);
NANWATCH_OBSERVE_BENCH(fp32, NANWATCH_FP32, 4);
NANWATCH_OBSERVE_BENCH(fp64, NANWATCH_FP64, 8);
NANWATCH_OBSERVE_BENCH(fp8_e5m2, NANWATCH_FP8_E5M2, 1);

}  // namespace
