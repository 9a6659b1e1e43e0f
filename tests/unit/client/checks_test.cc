#include "client_lib/src/checks.h"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>

namespace nanwatch_client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

nanwatch_op_status Status(uint32_t present) {
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 7, 0, NANWATCH_SLOT_OUTPUT);
  status.present = present;
  return status;
}

TEST(ChecksTest, StepsAndTimesLieWhereTheDaemonTakesThem) {
  nanwatch_step step;
  for (const int64_t good : {int64_t{0}, int64_t{1} << 53}) {
    nanwatch_step_init(&step, good);
    EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());
    step.time_us = kTimeMostUs;
    EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());
  }
  for (const int64_t bad :
       {INT64_MIN, int64_t{-1}, (int64_t{1} << 53) + 1, INT64_MAX}) {
    nanwatch_step_init(&step, bad);
    EXPECT_THAT(WhatIsWrong(step, 0), HasSubstr("step beyond"));
  }
  for (const int64_t bad : {INT64_MIN, int64_t{-1}, kTimeMostUs + 1}) {
    nanwatch_step_init(&step, 7);
    step.time_us = bad;
    EXPECT_THAT(WhatIsWrong(step, 0), HasSubstr("time beyond"));
  }
}

TEST(ChecksTest, AStepsOptimizerHasAName) {
  nanwatch_step step;
  nanwatch_step_init(&step, 7);
  step.optimizer = 2;
  EXPECT_THAT(WhatIsWrong(step, 2), IsEmpty());
  EXPECT_THAT(WhatIsWrong(step, 1), HasSubstr("optimizer 2, of 1"));
  step.optimizer = -1;
  EXPECT_THAT(WhatIsWrong(step, 1), HasSubstr("optimizer -1"));
}

TEST(ChecksTest, AFloatStatusHasOneWordOrEight) {
  nanwatch_step step;
  nanwatch_step_init(&step, 7);
  EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());  // not present
  step.present = NANWATCH_STEP_FLOAT_STATUS;
  for (const uint8_t words : {0, 2, 200}) {
    step.float_status_words = words;
    EXPECT_THAT(WhatIsWrong(step, 0), HasSubstr("1 or 8"));
  }
  for (const uint8_t words : {1, 8}) {
    step.float_status_words = words;
    EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());
  }
}

TEST(ChecksTest, FractionsAreShares) {
  nanwatch_step step;
  nanwatch_step_init(&step, 7);
  step.zero_fraction = 55;
  EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());  // not present
  step.present = NANWATCH_STEP_ZERO_FRACTION;
  EXPECT_THAT(WhatIsWrong(step, 0), HasSubstr("zero_fraction 55"));
  for (const double good : {0.0, 1.0, std::nan("")}) {
    step.zero_fraction = good;
    EXPECT_THAT(WhatIsWrong(step, 0), IsEmpty());
  }
  step.present |= NANWATCH_STEP_UNDERFLOW_FRACTION;
  step.underflow_fraction = -0.5;
  EXPECT_THAT(WhatIsWrong(step, 0), HasSubstr("underflow_fraction"));
}

TEST(ChecksTest, CountsAreTogetherNoMoreThanTheElements) {
  nanwatch_op_status status = Status(NANWATCH_OP_NAN | NANWATCH_OP_ZERO);
  status.nan = 6;
  status.zero = 4;
  EXPECT_THAT(WhatIsWrong(status, 10), IsEmpty());
  EXPECT_THAT(WhatIsWrong(status, 9), HasSubstr("counts 4 zeros"));
  EXPECT_THAT(WhatIsWrong(status, 0), IsEmpty());  // a shape not known
  status.present |= NANWATCH_OP_ELEMENTS;
  status.elements = 8;
  EXPECT_THAT(WhatIsWrong(status, 10), HasSubstr("of 8 elements"));
  status.elements = 0;
  EXPECT_THAT(WhatIsWrong(status, 10), HasSubstr("of 0 elements"));
  EXPECT_THAT(WhatIsWrong(status, 0), HasSubstr("of 0 elements"));
  status.nan = status.zero = 0;  // an expert without tokens
  EXPECT_THAT(WhatIsWrong(status, 10), IsEmpty());
}

TEST(ChecksTest, WhatIsNotPresentDoesNotCount) {
  nanwatch_op_status status = Status(0);
  status.nan = UINT64_MAX;
  EXPECT_THAT(WhatIsWrong(status, 10), IsEmpty());
}

TEST(ChecksTest, ExponentsAreThoseOfFp64) {
  const auto exponents = std::make_unique<nanwatch_exponents>();
  nanwatch_op_status status = Status(0);
  status.exponents = exponents.get();
  exponents->first = -1074;
  exponents->size = NANWATCH_EXPONENT_BINS;
  exponents->counts[3] = 10;
  EXPECT_THAT(WhatIsWrong(status, 10), IsEmpty());
  EXPECT_THAT(WhatIsWrong(status, 9), HasSubstr("counts 10"));
  exponents->first = -1073;
  EXPECT_THAT(WhatIsWrong(status, 10), HasSubstr("beyond those of fp64"));
}

}  // namespace
}  // namespace nanwatch_client
