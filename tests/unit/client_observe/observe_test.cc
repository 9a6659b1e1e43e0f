#include <gmock/gmock.h>
#include <nanwatch.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using ::testing::ElementsAre;

nanwatch_op_status Status() {
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 0, 0, NANWATCH_SLOT_OUTPUT);
  return status;
}

constexpr uint32_t kCounts = NANWATCH_OP_NAN | NANWATCH_OP_POS_INF |
                             NANWATCH_OP_NEG_INF | NANWATCH_OP_SATURATED |
                             NANWATCH_OP_ZERO | NANWATCH_OP_SUBNORMAL |
                             NANWATCH_OP_ELEMENTS;

TEST(ObserveTest, AFewFloats) {
  const float inf = std::numeric_limits<float>::infinity();
  const float data[] = {1, -4, 0, inf, -inf, std::nanf(""), 2, FLT_MIN / 2};
  auto status = Status();
  ASSERT_EQ(
      nanwatch_observe(data, 8, NANWATCH_FP32, NANWATCH_OBSERVE_ALL, &status),
      1);
  EXPECT_EQ(status.elements, 8u);
  EXPECT_EQ(status.nan, 1u);
  EXPECT_EQ(status.pos_inf, 1u);
  EXPECT_EQ(status.neg_inf, 1u);
  EXPECT_EQ(status.zero, 1u);
  EXPECT_EQ(status.subnormal, 1u);
  EXPECT_EQ(status.saturated, 0u);
  EXPECT_EQ(status.min, -4);
  EXPECT_EQ(status.max, 2);
  EXPECT_EQ(status.abs_max, 4);
  EXPECT_FLOAT_EQ(status.mean, -1.0f / 5);
  EXPECT_FLOAT_EQ(status.rms, std::sqrt(21.0f / 5));
  // 0, 2, 1 and -127.
  EXPECT_NEAR(status.log2_mean, -31, 1e-4);
  EXPECT_NEAR(status.log2_std, 55.4301, 1e-3);
}

TEST(ObserveTest, OnlyWhatIsAskedForIsSet) {
  const float data[] = {1, 2};
  auto status = Status();
  status.rms = 7;
  nanwatch_observe(data, 2, NANWATCH_FP32, NANWATCH_OBSERVE_COUNTS, &status);
  EXPECT_EQ(status.present, kCounts | NANWATCH_OP_ABS_MAX);
  EXPECT_EQ(status.rms, 7);
}

TEST(ObserveTest, NoElementsHaveCountsButNoStatistics) {
  auto status = Status();
  ASSERT_EQ(nanwatch_observe(nullptr, 0, NANWATCH_FP16, NANWATCH_OBSERVE_ALL,
                             &status),
            1);
  EXPECT_EQ(status.present, kCounts);
  const float nan = std::nanf("");
  status = Status();
  nanwatch_observe(&nan, 1, NANWATCH_FP32, NANWATCH_OBSERVE_ALL, &status);
  EXPECT_EQ(status.present, kCounts);
  EXPECT_EQ(status.nan, 1u);
}

TEST(ObserveTest, ZerosHaveNoLog2) {
  const double data[] = {0, -0.0};
  auto status = Status();
  nanwatch_observe(data, 2, NANWATCH_FP64, NANWATCH_OBSERVE_ALL, &status);
  EXPECT_EQ(status.present & (NANWATCH_OP_LOG2_MEAN | NANWATCH_OP_LOG2_STD),
            0u);
  EXPECT_EQ(status.rms, 0);
  EXPECT_EQ(status.zero, 2u);
}

TEST(ObserveTest, ExponentsAreTrimmedToWhatOccurs) {
  const float data[] = {1, 1.5f, 0, 8, 0.25f, std::nanf("")};
  nanwatch_exponents exponents;
  auto status = Status();
  status.exponents = &exponents;
  nanwatch_observe(data, 6, NANWATCH_FP32, NANWATCH_OBSERVE_EXPONENTS, &status);
  EXPECT_EQ(exponents.first, -2);
  ASSERT_EQ(exponents.size, 6u);
  EXPECT_THAT(std::vector<uint64_t>(exponents.counts, exponents.counts + 6),
              ElementsAre(1, 0, 2, 0, 0, 1));
  const float none = 0;
  nanwatch_observe(&none, 1, NANWATCH_FP32, NANWATCH_OBSERVE_EXPONENTS,
                   &status);
  EXPECT_EQ(exponents.size, 0u);
}

TEST(ObserveTest, StatisticsOfDoublesBeyondFloatStayFinite) {
  const double data[] = {1e300, -1e300, 1e300};
  auto status = Status();
  nanwatch_observe(data, 3, NANWATCH_FP64, NANWATCH_OBSERVE_ALL, &status);
  EXPECT_EQ(status.max, FLT_MAX);
  EXPECT_EQ(status.min, -FLT_MAX);
  EXPECT_EQ(status.rms, FLT_MAX);
  EXPECT_EQ(status.mean, FLT_MAX);
  EXPECT_NEAR(status.log2_mean, std::log2(1e300), 1e-3);
}

TEST(ObserveTest, SaturatedIsExactlyTheLargestFiniteValue) {
  const uint16_t halves[] = {0x7bff, 0xfbff, 0x7bfe};  // 65504, -65504, 65472
  auto status = Status();
  nanwatch_observe(halves, 3, NANWATCH_FP16, NANWATCH_OBSERVE_COUNTS, &status);
  EXPECT_EQ(status.saturated, 2u);
  EXPECT_EQ(status.abs_max, 65504);
  const uint8_t e4m3[] = {0x7e, 0x7f, 0x01};  // 448, NaN, 2^-9
  status = Status();
  nanwatch_observe(e4m3, 3, NANWATCH_FP8_E4M3, NANWATCH_OBSERVE_COUNTS,
                   &status);
  EXPECT_EQ(status.saturated, 1u);
  EXPECT_EQ(status.nan, 1u);
  EXPECT_EQ(status.subnormal, 1u);
  EXPECT_EQ(status.abs_max, 448);
}

TEST(ObserveTest, NonsenseIsRefused) {
  const float data[] = {1};
  auto status = Status();
  EXPECT_EQ(nanwatch_observe(data, 1, NANWATCH_DTYPE_UNKNOWN, 1, &status), 0);
  EXPECT_EQ(
      nanwatch_observe(data, 1, static_cast<nanwatch_dtype>(99), 1, &status),
      0);
  EXPECT_EQ(nanwatch_observe(nullptr, 1, NANWATCH_FP32, 1, &status), 0);
  EXPECT_EQ(nanwatch_observe(data, 1, NANWATCH_FP32, 1, nullptr), 0);
  EXPECT_EQ(status.present, 0u);
}

}  // namespace
