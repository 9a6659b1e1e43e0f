// Rules 17, 38, 39, 40 and 60: what becomes of the weights.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "detect/optimizer_state_nonfinite.h"
#include "detect/update_norm_spike.h"
#include "detect/update_ratio.h"
#include "detect/weight_out_of_range.h"
#include "detect/weight_unchanged.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// From -1 to 1.
class Noise {
 public:
  double Next() { return static_cast<double>(engine_()) / 1073741823.5 - 1; }

 private:
  std::minstd_rand engine_{7};
};

// --- 17 optimizer_state_nonfinite --------------------------------------------

TEST(OptimizerStateNonfinite, OneElementIsCriticalForGood) {
  OpFeed<OptimizerStateNonfinite> f(NoScaler());
  f.status.slot = Slot::kOptimizerState;
  f.Count(OpCount::kNan, 0);
  f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
  f.Count(OpCount::kPosInf, 2);
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Described().opened_step, 2);
  f.Count(OpCount::kPosInf, 0);
  for (int i = 0; i < 500; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(OptimizerStateNonfinite, OtherSlotsAndUncountedElementsSayNothing) {
  OpFeed<OptimizerStateNonfinite> gradient;
  gradient.status.slot = Slot::kGradInput;
  gradient.Count(OpCount::kNan, 5);
  EXPECT_EQ(gradient.Both({.loss = 2}), Severity::kNone);
  OpFeed<OptimizerStateNonfinite> uncounted;
  uncounted.status.slot = Slot::kOptimizerState;
  EXPECT_EQ(uncounted.Both({.loss = 2}), Severity::kNone);
}

// --- 38 update_ratio ---------------------------------------------------------

Update UpdateOf(double update, double weights, double rate = 1e-3) {
  return {.update_norm = update, .param_norm = weights, .learning_rate = rate};
}

TEST(UpdateRatio, ALargeOneWarnsAndOneAboveOneIsCritical) {
  StepFeed<UpdateRatio> f(NoScaler());
  f.Steps(UpdateOf(0.1, 100), 200);
  double weights = 100;
  const auto grow = [&](double ratio, double factor, int times) {
    for (int i = 0; i < times; ++i) {
      weights *= factor;
      f.Step(UpdateOf(ratio * weights, weights));
    }
  };
  grow(0.2, 1.02, 9);
  EXPECT_EQ(f.now, Severity::kNone);
  grow(0.2, 1.02, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  grow(2, 2, 10);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Steps(UpdateOf(0.01 * weights, weights), 49),
            Severity::kCritical);
  EXPECT_EQ(f.Steps(UpdateOf(0.01 * weights, weights), 1), Severity::kNone);
}

TEST(UpdateRatio, AnUpdateInOtherUnitsIsNoFinding) {
  // The direction's norm, without the learning rate: the weights do not move.
  StepFeed<UpdateRatio> f(NoScaler());
  double weights = 1000;
  for (int i = 0; i < 3000; ++i) f.Step(UpdateOf(1e4, weights *= 1.00001));
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UpdateRatio, StartsFromZeroAreHealthy) {
  // Adapters that begin at 0 and walk at random.
  StepFeed<UpdateRatio> f(NoScaler());
  for (int i = 1; i < 3000; ++i) f.Step(UpdateOf(0.01, 0.01 * std::sqrt(i)));
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UpdateRatio, SkippedNonfiniteAndUncollectedOnesDoNotCount) {
  StepFeed<UpdateRatio> f(Scaler("pytorch"));
  Update a = UpdateOf(0.1, 100);
  a.scale = 1024;
  a.overflow = false;
  f.Steps(a, 200);
  Update skipped = UpdateOf(1e9, 100);
  skipped.scale = 1024;
  skipped.overflow = skipped.skipped = true;
  f.Steps(skipped, 100);
  f.Steps(UpdateOf(kNan, 100), 100);
  f.Steps(UpdateOf(0.1, 0), 100);
  f.Steps({.update_norm = 100}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UpdateRatio, NothingAtAHealthyLearningRateWarns) {
  StepFeed<UpdateRatio> f(NoScaler());
  f.Steps(UpdateOf(0.1, 100), 200);
  f.Steps(UpdateOf(1e-7, 100), 49);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Steps(UpdateOf(1e-7, 100), 1), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps(UpdateOf(0.1, 100), 50), Severity::kNone);
}

TEST(UpdateRatio, WarmUpFromZeroAndDecayToZeroAreHealthy) {
  StepFeed<UpdateRatio> f(NoScaler());
  for (int i = 0; i < 4000; ++i) {
    const double rate = 1e-3 * std::min(i, 4000 - i) / 2000;
    f.Step(UpdateOf(rate * 100, 100, rate));
  }
  for (int i = 0; i < 300; ++i) f.Step(UpdateOf(1e-9, 100, 1e-11));
  for (int i = 0; i < 300; ++i) f.Step(UpdateOf(1e-9, 100, 0));
  EXPECT_EQ(f.worst, Severity::kNone);
  StepFeed<UpdateRatio> blind(NoScaler());  // no learning rate: not known
  blind.Steps({.update_norm = 1e-9, .param_norm = 100}, 1000);
  EXPECT_EQ(blind.worst, Severity::kNone);
}

// --- 39 weight_unchanged -----------------------------------------------------

TEST(WeightUnchanged, ADigestThatStopsWarns) {
  StepFeed<WeightUnchanged> f(NoScaler());
  uint64_t digest = 1;
  for (int i = 0; i < 50; ++i) {
    f.Step({.learning_rate = 1e-3, .digest = ++digest});
  }
  const Update same = {.learning_rate = 1e-3, .digest = digest};
  f.Steps(same, 99);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Steps(same, 1), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Step({.learning_rate = 1e-3, .digest = 1}), Severity::kNone);
}

TEST(WeightUnchanged, WeightsThatAreNanStaySo) {
  StepFeed<WeightUnchanged> f(NoScaler());
  for (uint64_t i = 0; i < 50; ++i) {
    f.Step({.loss = 1, .learning_rate = 1e-3, .digest = i});
  }
  f.Steps({.loss = std::nan(""), .learning_rate = 1e-3, .digest = 7}, 500);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(WeightUnchanged, WhatNeverMovedIsForInformation) {
  StepFeed<WeightUnchanged> digest(NoScaler());
  digest.Steps({.update_norm = 1, .learning_rate = 1e-3, .digest = 5}, 500);
  EXPECT_EQ(digest.worst, Severity::kInfo);
  StepFeed<WeightUnchanged> norm(NoScaler());
  norm.Steps({.update_norm = 0, .learning_rate = 1e-3}, 500);
  EXPECT_EQ(norm.worst, Severity::kInfo);
  ExpectWords(norm.Described().sentence);
}

TEST(WeightUnchanged, AnUpdateOfZeroAfterOthersWarns) {
  StepFeed<WeightUnchanged> f(NoScaler());
  f.Steps({.update_norm = 0.1, .learning_rate = 1e-3}, 10);
  f.Steps({.update_norm = 0, .learning_rate = 1e-3}, 100);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Step({.update_norm = 0.1, .learning_rate = 1e-3}),
            Severity::kNone);
}

TEST(WeightUnchanged, AccumulationSkipsAndALowRateExplainIt) {
  StepFeed<WeightUnchanged> micro(NoScaler());
  for (uint64_t i = 0; i < 2000; ++i) {
    micro.Step({.learning_rate = 1e-3, .digest = i / 64});
  }
  EXPECT_EQ(micro.worst, Severity::kNone);
  StepFeed<WeightUnchanged> skipped(Scaler("pytorch"));
  skipped.Step({.learning_rate = 1e-3, .digest = 3});
  skipped.Step({.learning_rate = 1e-3, .digest = 4});
  skipped.Steps(
      {.overflow = true, .skipped = true, .learning_rate = 1e-3, .digest = 4},
      500);
  EXPECT_EQ(skipped.worst, Severity::kNone);
  StepFeed<WeightUnchanged> decayed(NoScaler());
  decayed.Step({.learning_rate = 1e-3, .digest = 3});
  decayed.Step({.learning_rate = 1e-3, .digest = 4});
  decayed.Steps({.learning_rate = 1e-9, .digest = 4}, 500);
  decayed.Steps({.learning_rate = 0, .digest = 4}, 500);
  EXPECT_EQ(decayed.worst, Severity::kNone);
}

TEST(WeightUnchanged, WithoutALearningRateItWaitsTenTimesAsLong) {
  StepFeed<WeightUnchanged> f(NoScaler());
  f.Step({.digest = 3});
  f.Step({.digest = 4});
  EXPECT_EQ(f.Steps({.digest = 4}, 999), Severity::kNone);
  EXPECT_EQ(f.Steps({.digest = 4}, 1), Severity::kWarning);
}

// --- 40 update_norm_spike ----------------------------------------------------

TEST(UpdateNormSpike, ThreeInARowWarnAndItClears) {
  StepFeed<UpdateNormSpike> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 500; ++i) f.Step(UpdateOf(1 + 0.1 * noise.Next(), 100));
  f.Steps(UpdateOf(3, 100), 2);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Step(UpdateOf(3, 100)), Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 501);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps(UpdateOf(1, 100), 19), Severity::kWarning);
  EXPECT_EQ(f.Steps(UpdateOf(1, 100), 1), Severity::kNone);
}

TEST(UpdateNormSpike, SchedulesOfTheLearningRateAreHealthy) {
  Noise noise;
  StepFeed<UpdateNormSpike> f(NoScaler());
  StepFeed<UpdateNormSpike> blind(NoScaler());  // the rate is not collected
  for (int i = 1; i < 8000; ++i) {
    double rate = 1e-3 * std::min(1.0, i / 1000.0);
    if (i > 2000) rate *= 0.1;  // a step down
    if (i > 4000) rate = 1e-3;  // a warm restart
    const double norm = rate * 400 * (1 + 0.1 * noise.Next());
    f.Step(UpdateOf(norm, 100, rate));
    if (i <= 4000) blind.Step({.update_norm = norm});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(blind.worst, Severity::kNone);
}

TEST(UpdateNormSpike, ANewLevelIsTheLevelAfterAWhile) {
  StepFeed<UpdateNormSpike> f(NoScaler());
  f.Steps({.update_norm = 1}, 500);
  f.Steps({.update_norm = 10}, 255);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Steps({.update_norm = 10}, 300);
  EXPECT_EQ(f.now, Severity::kNone);
}

// --- 60 weight_out_of_range --------------------------------------------------

class WeightOutOfRangeTest : public ::testing::Test {
 protected:
  WeightOutOfRangeTest() {
    f_.status.slot = Slot::kParameter;
    f_.trend.weight_before = 0.25f;
  }
  Severity Look(float largest) {
    f_.Stat(OpStat::kAbsMax, largest);
    return f_.Both({.loss = 2});
  }
  double Number(std::string_view name) const {
    return NumberOf(f_.Described(), name).value_or(-1);
  }
  OpFeed<WeightOutOfRange> f_;
};

TEST_F(WeightOutOfRangeTest, OpensAtTheLimitAndClearsBelowIt) {
  EXPECT_EQ(Look(0.5f), Severity::kNone);
  EXPECT_EQ(Look(0x1.fp63f), Severity::kNone);
  EXPECT_EQ(Look(0x1p64f), Severity::kCritical);
  EXPECT_EQ(f_.Described().opened_step, 3);
  EXPECT_EQ(Look(0x1p70f), Severity::kCritical) << "it goes on";
  EXPECT_EQ(f_.Described().opened_step, 3);
  EXPECT_EQ(Number("abs_max"), 0x1p64) << "as it was found";
  EXPECT_EQ(Look(0.5f), Severity::kNone);
}

TEST_F(WeightOutOfRangeTest, WhatBeginsSoIsMeantToBeSo) {
  f_.trend.weight_before = -1;
  EXPECT_EQ(Look(3e38f), Severity::kNone);
}

TEST_F(WeightOutOfRangeTest, OfWeightsAlone) {
  f_.status.slot = Slot::kOutput;
  EXPECT_EQ(Look(3e38f), Severity::kNone);
}

TEST_F(WeightOutOfRangeTest, AloneWhereTheOthersAreFarBelow) {
  f_.trend.other_weights = 0x1p32f;
  Look(0x1p64f);
  EXPECT_EQ(Number("alone"), 1);
  EXPECT_EQ(Number("abs_max_of_others"), 0x1p32);
}

TEST_F(WeightOutOfRangeTest, NotAloneWhereOthersGrewOrNothingIsKnownOfThem) {
  f_.trend.other_weights = 0x1.1p32f;
  Look(0x1p64f);
  EXPECT_EQ(Number("alone"), 0);
  Look(1);
  f_.trend.other_weights = -1;
  Look(0x1p64f);
  EXPECT_EQ(Number("alone"), 0);
  EXPECT_EQ(Number("abs_max_of_others"), -1) << "is not told";
}

TEST_F(WeightOutOfRangeTest, AFlippedBitIsToldFromWhatGrew) {
  const auto flipped = [&](float before, float now) {
    Look(1);
    f_.trend.weight_before = before;
    Look(now);
    return Number("flipped");
  };
  EXPECT_EQ(flipped(0.25f, 0x1p126f), 1) << "the largest itself";
  EXPECT_EQ(flipped(0.25f, 0x1p108f), 1) << "a smaller one of them";
  EXPECT_EQ(flipped(0.25f, 0x1p100f), 0) << "none of an ordinary size";
  EXPECT_EQ(flipped(0.25f, 2.5e19f), 0) << "one update on raw inputs";
  EXPECT_EQ(flipped(1e-6f, 0x1p126f), 0) << "more than a bit makes";
  EXPECT_EQ(flipped(0.75f, std::numeric_limits<float>::max()), 0);
  EXPECT_EQ(flipped(0, 0x1p100f), 0) << "of zeros it makes 2";
}

}  // namespace
}  // namespace nanwatch
