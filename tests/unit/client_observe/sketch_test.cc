// Every variant that runs on this CPU against what proto/SKETCH.md says.

#include <gmock/gmock.h>
#include <nanwatch.h>
#include <nanwatch_sketch.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tally.h"

namespace nanwatch {
namespace {

using ::testing::Each;
using ::testing::Ne;

constexpr unsigned kBoth = NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

uint64_t Mix(uint64_t i) {
  uint64_t x = (i + 1) * kGolden;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// One element after the other, as the text has it.
void Add(uint64_t i, uint64_t bits, double value, SketchTally* sums) {
  const uint64_t block = i / 1024, place = i % 1024;
  const uint64_t key = Mix(place) | 1;
  const uint64_t factor = Mix((uint64_t{1} << 62) + block) | 1;
  sums->digest += key * factor * ((bits & 0xffffffff) + kGolden * (bits >> 32));
  if (!std::isfinite(value)) return;
  const uint64_t signs =
      Mix((uint64_t{2} << 62) + place / 16) ^ Mix((uint64_t{3} << 62) + block);
  sums->sums[i % 16] += (signs >> (i % 16) & 1) != 0 ? -value : value;
}

double ValueOf(uint64_t bits, nanwatch_dtype dtype) {
  const auto format = [bits](int exponent, int mantissa, bool infinities) {
    const uint64_t m = bits & ((uint64_t{1} << (exponent + mantissa)) - 1);
    const bool negative = (bits >> (exponent + mantissa) & 1) != 0;
    const uint64_t field = m >> mantissa;
    const uint64_t fraction = m & ((uint64_t{1} << mantissa) - 1);
    const uint64_t most = (uint64_t{1} << exponent) - 1;
    const int bias = static_cast<int>(most / 2);
    const double one = std::ldexp(1.0, mantissa);
    double value = std::ldexp(static_cast<double>(fraction) / one, 1 - bias);
    if (field > 0) {
      value = std::ldexp(1 + static_cast<double>(fraction) / one,
                         static_cast<int>(field) - bias);
    }
    if (infinities ? field == most : m == (most << mantissa) + 7) {
      value = std::numeric_limits<double>::quiet_NaN();
    }
    return negative ? -value : value;
  };
  switch (dtype) {
    case NANWATCH_FP64:
      return format(11, 52, true);
    case NANWATCH_FP32:
      return format(8, 23, true);
    case NANWATCH_FP16:
      return format(5, 10, true);
    case NANWATCH_BF16:
      return format(8, 7, true);
    case NANWATCH_FP8_E4M3:
      return format(4, 3, false);
    default:
      return format(5, 2, true);
  }
}

std::vector<unsigned char> RandomBytes(size_t n) {
  std::mt19937_64 random(n);
  std::vector<unsigned char> bytes(n);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

SketchTally Want(const unsigned char* data, size_t n, nanwatch_dtype dtype,
                 uint64_t first) {
  SketchTally sums;
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * ElementBytes(dtype), ElementBytes(dtype));
    Add(first + i, bits, ValueOf(bits, dtype), &sums);
  }
  return sums;
}

// Finite ones among random bits are up to the largest: sums are compared with
// these.
double NormOf(const unsigned char* data, size_t n, nanwatch_dtype dtype) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * ElementBytes(dtype), ElementBytes(dtype));
    const double value = std::fabs(ValueOf(bits, dtype));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

class SketchOf : public testing::TestWithParam<nanwatch_dtype> {};

TEST_P(SketchOf, IsTheTexts) {
  const nanwatch_dtype dtype = GetParam();
  size_t count = 0;
  const ObserveVariant* variants = ObserveVariants(&count);
  for (const size_t n : {1, 15, 16, 17, 1023, 1024, 1025, 5000}) {
    for (const uint64_t first :
         {uint64_t{0}, uint64_t{5}, uint64_t{1008}, uint64_t{1} << 40}) {
      // One more: buffers need no alignment.
      auto bytes = RandomBytes(n * ElementBytes(dtype) + 1);
      // No sum of finite doubles is to overflow.
      if (dtype == NANWATCH_FP64) {
        for (size_t i = 7; i < bytes.size(); i += 8) bytes[i + 1 - 1] &= 0xbf;
      }
      const unsigned char* data =
          bytes.data() + (dtype == NANWATCH_FP64 ? 0 : 1);
      const SketchTally want = Want(data, n, dtype, first);
      const double norm = NormOf(data, n, dtype);
      for (size_t v = 0; v < count; ++v) {
        if (!variants[v].runs_here) continue;
        SketchTally got;
        variants[v].sketch(data, n, dtype, first, kBoth, &got);
        EXPECT_EQ(got.digest, want.digest) << variants[v].name << " " << n;
        for (int j = 0; j < NANWATCH_SKETCH_SUMS; ++j) {
          EXPECT_NEAR(got.sums[j], want.sums[j], 1e-9 * norm)
              << variants[v].name << " " << n << " sum " << j;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SketchOf,
                         testing::Values(NANWATCH_FP64, NANWATCH_FP32,
                                         NANWATCH_FP16, NANWATCH_BF16,
                                         NANWATCH_FP8_E4M3, NANWATCH_FP8_E5M2));

nanwatch_sketch SketchFloats(const std::vector<float>& values) {
  nanwatch_sketch sketch;
  nanwatch_sketch_init(&sketch);
  EXPECT_EQ(nanwatch_sketch_add(&sketch, values.data(), values.size(),
                                NANWATCH_FP32, kBoth, 0),
            1);
  return sketch;
}

std::vector<float> Normal(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(Sketch, OfShardsAddsUpToThatOfTheWhole) {
  constexpr size_t kRows = 48, kColumns = 77;
  const std::vector<float> whole = Normal(kRows * kColumns, 1);
  const nanwatch_sketch want = SketchFloats(whole);
  nanwatch_sketch sum;
  nanwatch_sketch_init(&sum);
  // Columns 0 to 29, and the others.
  nanwatch_sketch_add_rows(&sum, whole.data() + 30, kRows, 47, kColumns,
                           NANWATCH_FP32, kBoth, 30, kColumns);
  nanwatch_sketch_add_rows(&sum, whole.data(), kRows, 30, kColumns,
                           NANWATCH_FP32, kBoth, 0, kColumns);
  EXPECT_EQ(sum.digest, want.digest);
  for (int j = 0; j < NANWATCH_SKETCH_SUMS; ++j) {
    EXPECT_NEAR(sum.sums[j], want.sums[j], 1e-9);
  }
}

TEST(Sketch, DigestSeesTheOrder) {
  const std::vector<float> values = Normal(64 * 64, 2);
  std::vector<float> transposed(values.size());
  for (size_t i = 0; i < 64; ++i) {
    for (size_t j = 0; j < 64; ++j) transposed[j * 64 + i] = values[i * 64 + j];
  }
  EXPECT_NE(SketchFloats(values).digest, SketchFloats(transposed).digest);
  std::vector<float> negative = values;
  negative[4000] = -negative[4000];
  EXPECT_NE(SketchFloats(values).digest, SketchFloats(negative).digest);
}

// The estimate's deviation is 18 % of one: of 200 tensors their mean is within
// 6 deviations of a mean.
TEST(Sketch, EstimatesHowFarTwoTensorsLieApart) {
  for (const bool one_row : {false, true}) {
    double sum = 0;
    constexpr int kTrials = 200;
    for (unsigned trial = 0; trial < kTrials; ++trial) {
      const std::vector<float> a = Normal(32 * 1024, trial);
      std::vector<float> b = a;
      const std::vector<float> error = Normal(b.size(), trial + 1000);
      double square = 0;
      for (size_t i = 0; i < b.size(); ++i) {
        // A bias: the same in each row of as many elements as a block has.
        const float e = 1e-3f * error[one_row ? i % 1024 : i];
        b[i] += e;
        square += double{e} * double{e};
      }
      const nanwatch_sketch x = SketchFloats(a), y = SketchFloats(b);
      double distance = 0;
      for (int j = 0; j < NANWATCH_SKETCH_SUMS; ++j) {
        distance += (x.sums[j] - y.sums[j]) * (x.sums[j] - y.sums[j]);
      }
      sum += distance / square;
    }
    EXPECT_NEAR(sum / kTrials, 1.0, one_row ? 0.35 : 0.16);
  }
}

TEST(Sketch, IsWrittenByObserve) {
  const std::vector<float> values = Normal(3000, 3);
  std::vector<float> sketch(NANWATCH_SKETCH_SUMS, NAN);
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 0, 0, NANWATCH_SLOT_OUTPUT);
  status.sketch = sketch.data();
  ASSERT_EQ(nanwatch_observe(values.data(), values.size(), NANWATCH_FP32, kBoth,
                             &status),
            1);
  const nanwatch_sketch want = SketchFloats(values);
  EXPECT_NE(status.present & NANWATCH_OP_DIGEST, 0u);
  EXPECT_EQ(status.digest, want.digest);
  for (size_t j = 0; j < NANWATCH_SKETCH_SUMS; ++j) {
    EXPECT_EQ(sketch[j], static_cast<float>(want.sums[j]));
  }
}

TEST(Sketch, StaysFiniteWhereElementsAreNot) {
  std::vector<float> values = Normal(2000, 4);
  std::vector<float> clean = values;
  values[10] = NAN;
  values[1500] = INFINITY;
  clean[10] = clean[1500] = 0;
  const nanwatch_sketch got = SketchFloats(values), want = SketchFloats(clean);
  EXPECT_NE(got.digest, want.digest);
  for (int j = 0; j < NANWATCH_SKETCH_SUMS; ++j) {
    EXPECT_NEAR(got.sums[j], want.sums[j], 1e-9);
  }
  EXPECT_THAT(got.sums, Each(Ne(INFINITY)));
  EXPECT_EQ(got.nan, 1u);
  EXPECT_EQ(got.inf, 1u);
  EXPECT_EQ(want.nan + want.inf, 0u);
}

TEST(Sketch, CountsElementsOfSmallFormatsThatAreNotFinite) {
  struct Numbers {
    nanwatch_dtype dtype;
    std::vector<uint16_t> bits;  // 1, NaN, -NaN, and infinities where they are
    uint64_t inf;
  };
  for (const Numbers& n :
       {Numbers{NANWATCH_FP16, {0x3c00, 0x7e00, 0xfc01, 0x7c00, 0xfc00}, 2},
        Numbers{NANWATCH_BF16, {0x3f80, 0x7fc0, 0xff81, 0x7f80, 0xff80}, 2},
        Numbers{NANWATCH_FP8_E5M2, {0x3c, 0x7e, 0xfd, 0x7c, 0xfc}, 2},
        Numbers{NANWATCH_FP8_E4M3, {0x38, 0x7f, 0xff, 0x7e, 0xfe}, 0}}) {
    std::vector<uint8_t> bytes;
    for (const uint16_t bits : n.bits) {
      bytes.push_back(static_cast<uint8_t>(bits));
      if (n.dtype == NANWATCH_FP16 || n.dtype == NANWATCH_BF16) {
        bytes.push_back(static_cast<uint8_t>(bits >> 8));
      }
    }
    nanwatch_sketch got;
    nanwatch_sketch_init(&got);
    ASSERT_EQ(nanwatch_sketch_add(&got, bytes.data(), n.bits.size(), n.dtype,
                                  kBoth, 0),
              1);
    EXPECT_EQ(got.nan, 2u) << n.dtype;
    EXPECT_EQ(got.inf, n.inf) << n.dtype;
    for (const double sum : got.sums) EXPECT_TRUE(std::isfinite(sum));
  }
}

TEST(Sketch, RefusesWhatItCannotRead) {
  nanwatch_sketch sketch;
  nanwatch_sketch_init(&sketch);
  const float value = 1;
  EXPECT_EQ(
      nanwatch_sketch_add(&sketch, &value, 1, NANWATCH_DTYPE_UNKNOWN, kBoth, 0),
      0);
  EXPECT_EQ(nanwatch_sketch_add(&sketch, nullptr, 1, NANWATCH_FP32, kBoth, 0),
            0);
  EXPECT_EQ(nanwatch_sketch_add(nullptr, &value, 1, NANWATCH_FP32, kBoth, 0),
            0);
  EXPECT_EQ(sketch.digest, 0u);
  EXPECT_EQ(nanwatch_sketch_add(&sketch, nullptr, 0, NANWATCH_FP32, kBoth, 0),
            1);
}

}  // namespace
}  // namespace nanwatch
