// Rule 15: a loss that is NaN or Inf.

#include "detect/loss_nonfinite.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(LossNonfinite, AppliedIsCriticalAtOnce) {
  StepFeed<LossNonfinite> f(NoScaler());  // BF16
  f.Step({.skipped = false, .loss = 2.5});
  EXPECT_EQ(f.Step({.skipped = false, .loss = kNan}), Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

// It is feared, and not said: a loop may guard its updates by itself.
TEST(LossNonfinite, ZerosInPlaceOfNanBeginWithTheFirst) {
  StepFeed<LossNonfinite> f;
  f.Steps({.loss = 1.2, .grad_norm = 0.7}, 70);
  for (int i = 0; i < 30; ++i) f.Step({.loss = 0, .grad_norm = 1 + 0.01 * i});
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 71);
}

TEST(LossNonfinite, ZerosOfWhatWasMostlyLearnedMayBeRight) {
  StepFeed<LossNonfinite> f;
  f.Steps({.loss = 1.2}, 10);
  f.Steps({.loss = 0.3}, 60);
  f.Steps({.loss = 0}, 30);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(LossNonfinite, ARewardOfZeroIsOneAsGoodAsOthers) {
  const auto zeros_of = [](const std::string& loss) {
    StepFeed<LossNonfinite> f;
    f.run.settings["loss"] = loss;
    f.Steps({.loss = 0.5}, 70);
    f.Steps({.loss = 0}, 30);
    return f.now;
  };
  EXPECT_EQ(zeros_of("reward"), Severity::kNone);
  EXPECT_EQ(zeros_of(""), Severity::kCritical);
}

TEST(LossNonfinite, OneLossOfNextToNothingLeadsToZero) {
  StepFeed<LossNonfinite> f;
  f.Steps({.loss = 10}, 10);
  f.Step({.loss = 1e-6});
  f.Steps({.loss = 0}, 30);
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(LossNonfinite, ALogThatIsOverNeedsFewerZeros) {
  const auto at_end = [](int zeros) {
    StepFeed<LossNonfinite> f;
    f.Steps({.loss = 1.2}, 70);
    f.Steps({.loss = 0}, zeros);
    return f.End();
  };
  EXPECT_EQ(at_end(14), Severity::kNone);
  EXPECT_EQ(at_end(15), Severity::kCritical);
}

// That is what clipping leaves of an infinite one.
TEST(LossNonfinite, ZerosBesideANormThatNeverChangesAreNan) {
  StepFeed<LossNonfinite> f;
  f.Steps({.loss = 1.2, .grad_norm = 0.7}, 70);
  f.Steps({.loss = 0, .grad_norm = 1}, 30);
  EXPECT_EQ(f.now, Severity::kCritical);
  f.Steps({.loss = 1.1, .grad_norm = 0.7}, 10);
  f.Steps({.loss = 0, .grad_norm = 1}, 30);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 111);
}

TEST(LossNonfinite, SaysAppliedOnlyWhereTheRecordDoes) {
  StepFeed<LossNonfinite> f(NoScaler());
  f.Step({.loss = 2.5});
  EXPECT_EQ(f.Step({.loss = kNan}), Severity::kWarning);
  EXPECT_EQ(f.Step({.loss = kNan}), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  StepFeed<LossNonfinite> lost(Scaler("pytorch"));
  lost.Good(1024, 5);
  lost.Step({.scale = 512, .overflow = true, .loss = kNan});
  ExpectWords(lost.Described().sentence);
}

TEST(LossNonfinite, TellsWhereTheRowBeganThatItCounts) {
  StepFeed<LossNonfinite> f;
  f.Step({.loss = 2.5});
  f.Step({.loss = kNan});
  f.Step({.loss = 2.5});
  f.Steps({.loss = kNan}, 5);
  const Finding finding = f.Described();
  EXPECT_EQ(NumberOf(finding, "since").value_or(0), finding.opened_step + 2);
}

TEST(LossNonfinite, OneThatFiniteLossesFollowIsNotInTheWeights) {
  StepFeed<LossNonfinite> f(NoScaler());
  f.Step({.skipped = false, .loss = 2.5});
  f.Steps({.skipped = false, .loss = kNan}, 2);
  f.Steps({.skipped = false, .loss = 2.5}, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  StepFeed<LossNonfinite> grown;  // and came down again
  grown.Steps({.loss = 1}, 10);
  grown.Steps({.loss = 1e8}, 4);
  grown.Steps({.loss = 1}, 4);
  EXPECT_EQ(grown.now, Severity::kCritical);
  ExpectWords(grown.Described().sentence);
}

TEST(LossNonfinite, WhatGrowsWithoutBoundBeganWhereItLeftItsLevel) {
  for (const double factor : {1.3, 2.0, 30.0}) {
    StepFeed<LossNonfinite> f;
    for (int i = 0; i < 300; ++i) f.Step({.loss = 2 + 0.2 * (i % 3)});
    for (int i = 1; i <= 80; ++i) f.Step({.loss = 2 * std::pow(factor, i)});
    ASSERT_EQ(f.now, Severity::kCritical) << factor;
    const auto grew = static_cast<double>(f.Described().opened_step - 300);
    EXPECT_GE(grew, 0) << factor;
    EXPECT_LE(std::pow(factor, grew), 8 * factor) << factor;
  }
}

// A policy's loss grows with its rewards before it does so without bound.
TEST(LossNonfinite, ASlowGrowthIsNotWhereItBegan) {
  StepFeed<LossNonfinite> f;
  for (int i = 0; i < 400; ++i) f.Step({.loss = -4 - 0.2 * i});
  for (int i = 1; i <= 60; ++i) f.Step({.loss = -84 * std::pow(1.4, i)});
  ASSERT_EQ(f.now, Severity::kCritical);
  EXPECT_GE(f.Described().opened_step, 399);
  EXPECT_LE(f.Described().opened_step, 406);
}

TEST(LossNonfinite, OneSkippedIsAWarningAndClears) {
  StepFeed<LossNonfinite> f(Scaler("pytorch"));
  f.Step({.scale = 1024, .overflow = false, .loss = 2});
  EXPECT_EQ(f.Step({.scale = 512, .overflow = true, .loss = kInf}),
            Severity::kWarning);
  const Update fine = {.scale = 512, .overflow = false, .loss = 2};
  EXPECT_EQ(f.Steps(fine, 19), Severity::kWarning);
  EXPECT_EQ(f.Steps(fine, 1), Severity::kNone);
}

TEST(LossNonfinite, TwoInARowAreCritical) {
  StepFeed<LossNonfinite> f(Scaler("pytorch"));
  f.Good(1024, 5);
  f.Step({.scale = 512, .overflow = true, .loss = kNan});
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Step({.scale = 256, .overflow = true, .loss = kNan});
  EXPECT_EQ(f.now, Severity::kCritical);
  // As of batches without a sample of one task.
  StepFeed<LossNonfinite> odd(NoScaler());
  for (int i = 0; i < 30; ++i) {
    odd.Steps({.loss = 40}, 2 + (i * 7) % 5);
    odd.Step({.loss = kNan});
  }
  EXPECT_EQ(odd.worst, Severity::kWarning);
}

TEST(LossNonfinite, CalibrationIsANoteAndAbsentIsNotNan) {
  StepFeed<LossNonfinite> f(Scaler("megatron"));
  for (int i = 0; i < 17; ++i) {
    f.Step({.scale = 4294967296.0 / (1 << i), .overflow = true, .loss = kInf});
  }
  EXPECT_EQ(f.worst, Severity::kInfo);
  StepFeed<LossNonfinite> absent(NoScaler());
  EXPECT_EQ(absent.Steps({.grad_norm = 1}, 10), Severity::kNone);
}

TEST(LossNonfinite, AScaleThatHasNotMovedYetMayHaveSkippedIt) {
  // A log without flags, of a scaler that nobody declared.
  StepFeed<LossNonfinite> f;
  f.Step({.scale = 65536, .loss = 2});
  EXPECT_EQ(f.Step({.scale = 65536, .loss = kNan}), Severity::kWarning);
  EXPECT_EQ(f.Step({.scale = 65536, .loss = kNan}), Severity::kCritical);
  StepFeed<LossNonfinite> bf16;  // prints 1 for ever: nothing skips
  bf16.Step({.scale = 1, .loss = 2});
  EXPECT_EQ(bf16.Step({.scale = 1, .loss = kNan}), Severity::kWarning);
  EXPECT_EQ(bf16.End(), Severity::kCritical) << "the last of all";
}

// Labels longer than their audio: infinite for one batch, and learned on.
TEST(LossNonfinite, WhatIsOutlivedNowAndThenIsAWarning) {
  StepFeed<LossNonfinite> f(NoScaler());
  for (int i = 0; i < 6; ++i) {
    f.Steps({.loss = 40}, 25);
    f.Step({.loss = kInf});
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
  f.Steps({.loss = 40}, 5);
  EXPECT_EQ(f.End(), Severity::kWarning);
  // Again and again, as of one rank of four.
  for (int i = 0; i < 8; ++i) {
    f.Steps({.loss = 40}, 3);
    f.Step({.loss = kNan});
  }
  EXPECT_EQ(f.now, Severity::kCritical);
}

// Of the updates since the line before one was skipped, which is not told.
TEST(LossNonfinite, ThatTheScaleFellDoesNotSayThatThisOneWasSkipped) {
  const auto said = [](int64_t unseen) {
    StepFeed<LossNonfinite> f;
    f.Step({.scale = 32768, .loss = 2.5});
    f.Step({.scale = 1024, .loss = kNan, .unseen = unseen});
    return f.Described().sentence;
  };
  EXPECT_NE(said(0).find("skipped"), std::string::npos);
  EXPECT_EQ(said(99).find("skipped"), std::string::npos);
}

}  // namespace
}  // namespace nanwatch
