// Every variant that runs on this CPU against the reference.

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "format.h"
#include "tally.h"

namespace nanwatch {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr nanwatch_dtype kDtypes[] = {NANWATCH_FP64,     NANWATCH_FP32,
                                      NANWATCH_FP16,     NANWATCH_BF16,
                                      NANWATCH_FP8_E4M3, NANWATCH_FP8_E5M2};

// Of any variant.
constexpr size_t kWholeBlocks = 4096;

struct Observed {
  Tally tally;
  std::vector<uint64_t> exponents;
};

Observed Run(ObserveFunction function, const void* data, size_t n,
             nanwatch_dtype dtype, unsigned what) {
  Observed o;
  o.exponents.resize(
      static_cast<size_t>(HighestExponent(dtype) - LowestExponent(dtype) + 1));
  if (what & NANWATCH_OBSERVE_EXPONENTS) {
    o.tally.exponents = o.exponents.data();
  }
  function(data, n, dtype, what, &o.tally);
  return o;
}

void ExpectSame(const Observed& got, const Observed& want, unsigned what) {
  EXPECT_EQ(got.tally.nan, want.tally.nan);
  EXPECT_EQ(got.tally.pos_inf, want.tally.pos_inf);
  EXPECT_EQ(got.tally.neg_inf, want.tally.neg_inf);
  EXPECT_EQ(got.tally.saturated, want.tally.saturated);
  EXPECT_EQ(got.tally.zero, want.tally.zero);
  EXPECT_EQ(got.tally.subnormal, want.tally.subnormal);
  EXPECT_EQ(got.tally.abs_max, want.tally.abs_max);
  const double square = want.tally.mean_square;
  if (what & NANWATCH_OBSERVE_RMS) {
    if (std::isfinite(square)) {
      EXPECT_NEAR(got.tally.mean_square, square, 2e-5 * square);
    } else {
      EXPECT_EQ(got.tally.mean_square, square);
    }
  }
  if (what & NANWATCH_OBSERVE_RANGE) {
    EXPECT_EQ(got.tally.min, want.tally.min);
    EXPECT_EQ(got.tally.max, want.tally.max);
    const double tolerance = std::isfinite(square) ? 1e-5 * std::sqrt(square)
                                                   : 1e-12 * want.tally.abs_max;
    EXPECT_NEAR(got.tally.mean, want.tally.mean, tolerance);
  }
  if (what & NANWATCH_OBSERVE_LOG2) {
    EXPECT_NEAR(got.tally.log2_mean, want.tally.log2_mean, 1e-4);
    EXPECT_NEAR(got.tally.log2_std, want.tally.log2_std, 4e-3);
  }
  if (what & NANWATCH_OBSERVE_EXPONENTS) {
    EXPECT_EQ(got.exponents, want.exponents);
  }
}

void CompareAll(const void* data, size_t n, nanwatch_dtype dtype,
                const std::string& of, unsigned what = NANWATCH_OBSERVE_ALL) {
  const Observed want = Run(ObserveReference, data, n, dtype, what);
  size_t count = 0;
  const ObserveVariant* variants = ObserveVariants(&count);
  for (size_t i = 0; i < count; ++i) {
    if (!variants[i].runs_here) continue;
    SCOPED_TRACE(of + ", dtype " + std::to_string(dtype) + ", n " +
                 std::to_string(n) + ", " + variants[i].name);
    ExpectSame(Run(variants[i].function, data, n, dtype, what), want, what);
  }
}

Bytes RandomBytes(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes data(bytes);
  for (unsigned char& b : data) b = static_cast<unsigned char>(random());
  return data;
}

TEST(VariantsTest, RandomBitPatternsOfOddSizesAndAddresses) {
  for (nanwatch_dtype dtype : kDtypes) {
    const size_t bytes = ElementBytes(dtype);
    for (size_t n : {0, 1, 2, 7, 15, 16, 17, 31, 33, 63, 100, 1023, 1024, 1025,
                     2047, 5000, 20001}) {
      const size_t offset = n % 5;  // elements need no alignment
      const Bytes data = RandomBytes(n * bytes + 8, n + bytes);
      CompareAll(data.data() + offset, n, dtype, "random bits");
    }
  }
}

TEST(VariantsTest, AllPatternsOfSixteenBits) {
  std::vector<uint16_t> data(65536);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint16_t>(i);
  CompareAll(data.data(), data.size(), NANWATCH_FP16, "all patterns");
  CompareAll(data.data(), data.size(), NANWATCH_BF16, "all patterns");
}

TEST(VariantsTest, EachPatternOfSixteenBitsAlone) {
  // Too many to run them all with the reference: every 7th.
  for (uint32_t bits = 0; bits < 65536; bits += 7) {
    const uint16_t element = static_cast<uint16_t>(bits);
    CompareAll(&element, 1, NANWATCH_FP16, "pattern " + std::to_string(bits));
    CompareAll(&element, 1, NANWATCH_BF16, "pattern " + std::to_string(bits));
    if (HasFailure()) return;
  }
}

TEST(VariantsTest, AllPatternsOfEightBits) {
  Bytes data(256);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<unsigned char>(i);
  }
  CompareAll(data.data(), data.size(), NANWATCH_FP8_E4M3, "all patterns");
  CompareAll(data.data(), data.size(), NANWATCH_FP8_E5M2, "all patterns");
}

// Cuts a normal distribution of floats to a shorter format.
Bytes Normal(nanwatch_dtype dtype, size_t n, float deviation, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.1, 1);
  Bytes data(n * ElementBytes(dtype));
  for (size_t i = 0; i < n; ++i) {
    const double wide = normal(random) * static_cast<double>(deviation);
    const float value = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint16_t bf16 = static_cast<uint16_t>(bits >> 16);
    const int exponent = static_cast<int>(bits >> 23 & 255) - 127 + 15;
    const uint16_t fp16 = static_cast<uint16_t>(
        (bits >> 16 & 0x8000) |
        (exponent <= 0
             ? (bits >> 13 & 0x3ff)
             : static_cast<uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff)));
    unsigned char* at = &data[i * ElementBytes(dtype)];
    if (dtype == NANWATCH_FP64) std::memcpy(at, &wide, 8);
    if (dtype == NANWATCH_FP32) std::memcpy(at, &value, 4);
    if (dtype == NANWATCH_FP16) std::memcpy(at, &fp16, 2);
    if (dtype == NANWATCH_BF16) std::memcpy(at, &bf16, 2);
  }
  return data;
}

TEST(VariantsTest, NormalDistributions) {
  for (nanwatch_dtype dtype :
       {NANWATCH_FP64, NANWATCH_FP32, NANWATCH_FP16, NANWATCH_BF16}) {
    for (float deviation : {1.0f, 1e-3f, 50.0f}) {
      const size_t n = 33'333;
      const Bytes data = Normal(dtype, n, deviation, 5);
      CompareAll(data.data(), n, dtype, "normal");
    }
  }
}

TEST(VariantsTest, RareSpecialValuesAmongOrdinaryOnes) {
  std::mt19937_64 random(3);
  for (nanwatch_dtype dtype :
       {NANWATCH_FP64, NANWATCH_FP32, NANWATCH_FP16, NANWATCH_BF16}) {
    const size_t bytes = ElementBytes(dtype);
    const size_t n = 10'000;
    Bytes data = Normal(dtype, n, 1, 9);
    // NaN, infinities, the largest, zeros and the smallest, as bits of 16: the
    // upper half of the longer formats.
    const uint16_t fp16[] = {0x7e00, 0x7c00, 0xfc00, 0x7bff, 0, 0x8000, 1};
    const uint16_t bf16[] = {0x7fc0, 0x7f80, 0xff80, 0x7f7f, 0, 0x8000, 1};
    const uint16_t fp64[] = {0x7ff8, 0x7ff0, 0xfff0, 0x7fef, 0, 0x8000, 1};
    const uint16_t* special = dtype == NANWATCH_FP16   ? fp16
                              : dtype == NANWATCH_FP64 ? fp64
                                                       : bf16;
    for (int i = 0; i < 40; ++i) {
      unsigned char* at = &data[random() % n * bytes];
      std::memset(at, special[i % 7] == special[3] ? 0xff : 0, bytes);
      std::memcpy(at + bytes - 2, &special[i % 7], 2);
    }
    CompareAll(data.data(), n, dtype, "rare special values");
  }
}

TEST(VariantsTest, BlocksOfOneKindOnly) {
  for (uint16_t bits : {0x0000, 0x8000, 0x7e00, 0x7c00, 0xfc00, 0x7bff, 0x0001,
                        0x83ff, 0x3c00}) {
    const std::vector<uint16_t> data(3000, bits);
    CompareAll(data.data(), data.size(), NANWATCH_FP16,
               "all " + std::to_string(bits));
  }
}

// Elements of `span` exponent fields from `first`, beside a few zeros and NaN.
template <typename F>
void CompareFields(nanwatch_dtype dtype, uint64_t first, uint64_t span) {
  using Bits = typename F::Bits;
  const size_t n = 3000;
  std::mt19937_64 random(first * 100 + span);
  std::vector<Bits> data(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t field = first + random() % span;
    const uint64_t rest = random() & (F::kSign | (F::kMinNormal - 1));
    data[i] = static_cast<Bits>(field << F::kMantissa | rest);
    if (i % 50 == 0) data[i] = 0;
    if (i % 1800 == 7) data[i] = F::kMagnitude;
  }
  CompareAll(data.data(), n, dtype,
             "fields " + std::to_string(first) + " and " +
                 std::to_string(span - 1) + " more",
             NANWATCH_OBSERVE_COUNTS | NANWATCH_OBSERVE_EXPONENTS);
}

template <typename F>
void CompareAllFields(nanwatch_dtype dtype) {
  constexpr uint64_t kFields = (F::kFirstSpecial >> F::kMantissa) - 1;
  for (uint64_t span : {1, 7, 8, 9, 15, 16, 17, 24, 25, 30, 33, 64, 65, 200}) {
    if (span > kFields) continue;
    CompareFields<F>(dtype, 1, span);
    CompareFields<F>(dtype, (kFields - span) / 2 + 1, span);
    CompareFields<F>(dtype, kFields - span + 1, span);
  }
}

TEST(VariantsTest, ExponentFieldsInAnyNumberAndPlace) {
  CompareAllFields<Fp64Format>(NANWATCH_FP64);
  CompareAllFields<Fp32Format>(NANWATCH_FP32);
  CompareAllFields<Fp16Format>(NANWATCH_FP16);
  CompareAllFields<Bf16Format>(NANWATCH_BF16);
}

// Values that are all alike: sums that err to one side would show.
TEST(VariantsTest, LogarithmOfEachHalf) {
  for (uint32_t bits = 0; bits < 0x7c00; bits += 13) {
    const std::vector<uint16_t> data(kWholeBlocks, static_cast<uint16_t>(bits));
    CompareAll(data.data(), data.size(), NANWATCH_FP16,
               "all " + std::to_string(bits),
               NANWATCH_OBSERVE_COUNTS | NANWATCH_OBSERVE_LOG2);
    if (HasFailure()) return;
  }
}

// Values so near each other that an error of one logarithm is one of the
// deviation.
TEST(VariantsTest, LogarithmsOfTwoHalves) {
  for (uint32_t bits = 0x3c00; bits < 0x4000; bits += 16) {
    std::vector<uint16_t> data(kWholeBlocks, static_cast<uint16_t>(bits));
    for (size_t i = 0; i < data.size(); i += 2) data[i] |= 15;
    CompareAll(data.data(), data.size(), NANWATCH_FP16,
               "beside " + std::to_string(bits),
               NANWATCH_OBSERVE_COUNTS | NANWATCH_OBSERVE_LOG2);
    if (HasFailure()) return;
  }
}

// A tensor whose blocks are of other sizes each, some of them beyond what float
// sums hold; with zeros, with subnormal ones.
TEST(VariantsTest, BlocksOfManySizes) {
  std::mt19937_64 random(17);
  for (nanwatch_dtype dtype :
       {NANWATCH_FP64, NANWATCH_FP32, NANWATCH_FP16, NANWATCH_BF16}) {
    const bool half = dtype == NANWATCH_FP16;
    const size_t bytes = ElementBytes(dtype);
    for (size_t every : {0, 1000, 2}) {
      Bytes data;
      for (float size : {1.0f, half ? 1e-3f : 1e-25f, half ? 1e3f : 1e25f,
                         half ? 1e-2f : 1e-37f, half ? 5e3f : 3e37f}) {
        const Bytes more = Normal(dtype, kWholeBlocks, size, random());
        data.insert(data.end(), more.begin(), more.end());
      }
      const size_t n = data.size() / bytes;
      for (size_t i = every; every > 0 && i < n; i += every) {
        std::memset(&data[i * bytes], i / every % 3 == 2 ? 1 : 0, bytes);
        data[(i + 1) * bytes - 1] = 0;
      }
      CompareAll(data.data(), n, dtype, "zero each " + std::to_string(every));
    }
  }
}

TEST(VariantsTest, EachPartAlone) {
  const Bytes data = RandomBytes(8 * 3001, 11);
  for (nanwatch_dtype dtype : kDtypes) {
    for (unsigned what : {1u, 2u, 4u, 8u, 16u, 3u, 20u}) {
      CompareAll(data.data(), 3001, dtype, "part", what);
    }
  }
}

}  // namespace
}  // namespace nanwatch
