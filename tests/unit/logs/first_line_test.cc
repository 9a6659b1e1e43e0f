// How far back the first step line of a log counts, and the first one after the
// steps went back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

class FirstLineTest : public testing::Test {
 protected:
  void Megatron(int64_t step, double scale, int64_t skipped) {
    reader_.ReadLine(
        " iteration " + std::to_string(step) +
        "/ 500000 | learning rate: 1.0E-04 | lm loss: 2.5E+00 | "
        "loss scale: " +
        std::to_string(scale) +
        " | number of skipped iterations: " + std::to_string(skipped) + " |");
  }
  // Lines `every` steps apart from `step` on; `overflowed` of their first
  // intervals' updates did.
  void Search(int64_t step, int64_t every, int64_t overflowed) {
    double scale = 1 << 20;
    for (int line = 0; line < 30; ++line) {
      const int64_t skipped = std::min(overflowed, every);
      overflowed -= skipped;
      for (int64_t i = 0; i < skipped; ++i) scale /= 2;
      Megatron(step + line * every, scale, skipped);
    }
  }
  // How many overflows the records begin with.
  int Leading() const {
    int leading = 0;
    for (const StepRecord& r : records_) {
      if (!r.is(StepFlag::kOverflow)) break;
      ++leading;
    }
    return leading;
  }

  std::vector<StepRecord> records_;
  LogReader reader_{
      nullptr, {}, [this](const LogRecord& r) { records_.push_back(r.step); }};
};

// From a checkpoint, with a new scaler: nothing of the 950 steps before is in
// this log.
TEST_F(FirstLineTest, AResumedJobBeginsWhereItsLogDoes) {
  Search(951, 1, 6);
  reader_.Finish();
  EXPECT_EQ(records_.size(), 30u);
  EXPECT_EQ(Leading(), 6);
  EXPECT_EQ(records_.front().step, 951);
}

TEST_F(FirstLineTest, TheFirstIntervalIsAsLongAsTheNext) {
  Search(100, 100, 6);
  reader_.Finish();
  EXPECT_EQ(records_.size(), 3000u);
  EXPECT_EQ(Leading(), 6);
}

TEST_F(FirstLineTest, AnIntervalDoesNotReachBeyondStepOne) {
  Megatron(3, 8, 2);
  Megatron(103, 8, 0);
  reader_.Finish();
  EXPECT_EQ(records_.size(), 103u);
  EXPECT_EQ(Leading(), 2);
}

// A log that is followed: the next line may be minutes away.
TEST_F(FirstLineTest, WhereNoSecondLineComesWhatItCountsIsTold) {
  Megatron(951, 8, 2);
  Megatron(951, 8, 2);
  EXPECT_TRUE(records_.empty());
  reader_.Finish();
  EXPECT_EQ(records_.size(), 2u);
  EXPECT_EQ(Leading(), 2);
}

TEST_F(FirstLineTest, StepsThatWentBackReachAsFarAsLinesAreApart) {
  Search(951, 10, 0);
  const size_t before = records_.size();
  Search(1101, 10, 6);
  reader_.Finish();
  EXPECT_EQ(before, 291u);
  EXPECT_EQ(records_.size(), before + 300);
  EXPECT_EQ(records_[before].step, 1092);
  EXPECT_TRUE(records_[before].is(StepFlag::kOverflow));
}

// A program leaves NaN out where it prints a loss otherwise; a log without any
// says nothing of it.
TEST_F(FirstLineTest, ALossThatNoLineShowsIsNotNaN) {
  const auto line = [this](int64_t step, const char* loss) {
    reader_.ReadLine(" iteration " + std::to_string(step) +
                     "/ 500000 | learning rate: 1.0E-04 |" + loss +
                     " loss scale: 1.0 | grad norm: nan | number of skipped "
                     "iterations: 0 | number of nan iterations: 0 |");
  };
  for (int64_t step = 700; step < 720; ++step) line(step, "");
  line(720, " lm loss: 2.5E+00 |");
  line(721, "");
  reader_.Finish();
  ASSERT_EQ(records_.size(), 22u);
  for (const StepRecord& r : records_) {
    EXPECT_EQ(r.has(StepField::kLoss), r.step >= 720) << r.step;
    EXPECT_TRUE(std::isnan(r[StepField::kGradNorm])) << r.step;
  }
  EXPECT_TRUE(std::isnan(records_.back()[StepField::kLoss]));
}

}  // namespace
}  // namespace nanwatch
