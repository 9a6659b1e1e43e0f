// Rule 4: a scale that falls and falls.

#include "detect/scale_collapse.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleCollapse, SixteenfoldWarnsAndADeepFallNearTheFloorIsCritical) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  f.Good(65536, 100);
  f.Fall(65536, 3);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Scale(4096, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Fall(4096, 7);
  EXPECT_EQ(f.now, Severity::kWarning) << "well above the floor";
  f.Fall(32, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(ScaleCollapse, AFallThatEndsAboveTheFloorIsAWarning) {
  StepFeed<ScaleCollapse> f(Scaler("megatron"));
  f.Good(65536, 1000);
  f.Fall(65536, 9);
  f.Good(128, 1000);
  EXPECT_EQ(f.worst, Severity::kWarning);
  EXPECT_EQ(f.now, Severity::kNone);
}

// Keras and DeepSpeed grow without a ceiling, past what a float holds.
// LlamaFactory#8514: 512 to 4 in seven overflows, and no more is told.
TEST(ScaleCollapse, WhereAllIsOverARowThatTookItNearTheFloorIsCritical) {
  const auto end = [](double from, int overflows, int good) {
    StepFeed<ScaleCollapse> f;
    f.Good(from, 10);
    f.Good(f.Fall(from, overflows), good);
    return f.End();
  };
  EXPECT_EQ(end(512, 7, 0), Severity::kCritical);
  EXPECT_EQ(end(512, 5, 0), Severity::kCritical);
  EXPECT_EQ(end(512, 4, 0), Severity::kWarning) << "a batch or two do that";
  EXPECT_EQ(end(512, 7, 1), Severity::kWarning) << "it fits there";
  EXPECT_EQ(end(65536, 7, 0), Severity::kWarning) << "far from the floor";
  EXPECT_EQ(end(128, 3, 0), Severity::kNone);
  StepFeed<ScaleCollapse> f;
  f.Good(512, 10);
  f.Fall(512, 7);
  f.End();
  EXPECT_EQ(f.Described().opened_step, 14) << "it was found before";
  StepFeed<ScaleCollapse> stands;
  stands.Good(32, 10);
  stands.Fall(32, 3);
  for (int i = 0; i < 3; ++i) stands.Scale(4, true);
  EXPECT_EQ(stands.now, Severity::kNone);
  EXPECT_EQ(stands.End(), Severity::kCritical);
  EXPECT_EQ(stands.Described().opened_step, 11);
}

TEST(ScaleCollapse, WhereAllIsOverASearchOfTheStartIsNone) {
  for (const int overflows : {5, 12, 28, 31}) {
    StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
    f.Fall(4294967296.0, overflows);
    EXPECT_EQ(f.End(), Severity::kNone) << overflows;
  }
}

TEST(ScaleCollapse, AScaleBeyondFloatIsNoFall) {
  StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
  for (int i = 120; i < 132; ++i) f.Good(std::ldexp(1, i), 300);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, StartUpDescentIsNoCollapse) {
  StepFeed<ScaleCollapse> f(Scaler("megatron"));
  f.Fall(4294967296.0 * 2, 17);
  f.Good(65536, 500);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, DescentWithAGoodStepNearItsEndIsNoCollapse) {
  // 2^32 to 1 at the start with good steps at 8 and 1 only; it converged.
  StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
  f.Fall(4294967296.0, 29);
  f.Good(8, 2);
  f.Fall(8, 3);
  f.Good(1, 1);
  f.Scale(1, true);
  f.Good(1, 1000);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, SawtoothOfOneHalvingIsHealthy) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  for (int i = 0; i < 50; ++i) {
    f.Good(65536, 40);
    f.Scale(32768, true);
    f.Good(32768, 40);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ClearsAtTheNewLevel) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  f.Good(65536, 100);
  f.Fall(65536, 5);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(2048, 600), Severity::kWarning);
  EXPECT_EQ(f.Good(2048, 200), Severity::kNone);
}

TEST(ScaleCollapse, ALevelBelowOneIsNone) {
  StepFeed<ScaleCollapse> f;
  f.Good(8192, 100);
  f.Good(0.5, 2000);
  EXPECT_EQ(f.now, Severity::kCritical);
  f.Good(1, 500);
  EXPECT_EQ(f.now, Severity::kNone);
}

// A line of every ten steps stands for ten updates.
TEST(ScaleCollapse, ClearsAfterAsManyUpdatesWhereLinesAreFew) {
  StepFeed<ScaleCollapse> f;
  f.Steps({.scale = 8192, .unseen = 9}, 100);
  f.Steps({.scale = 128, .unseen = 9}, 60);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Steps({.scale = 128, .unseen = 9}, 11);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(ScaleCollapse, StatisticalScalersMoveAsTheyLike) {
  StepFeed<ScaleCollapse> f(Scaler("openseq2seq_logmax"));
  f.Good(16384, 100);
  f.Good(16, 10);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ASearchThatTellsNoOverflowWasNeverHigher) {
  StepFeed<ScaleCollapse> f;
  double scale = 65536;
  for (int i = 0; i < 14; ++i) f.Step({.scale = scale /= 2, .loss = 9});
  f.Steps({.scale = scale, .loss = 8}, 1000);
  EXPECT_EQ(f.worst, Severity::kNone);
  // It stood, and fell later.
  StepFeed<ScaleCollapse> later;
  later.Steps({.scale = 65536, .loss = 9}, 10);
  for (scale = 65536; scale > 4;) later.Step({.scale = scale /= 2, .loss = 9});
  EXPECT_EQ(later.now, Severity::kCritical);
}

TEST(ScaleCollapse, AGoodUpdateHalfWayDownWorkedAtNoKnownScale) {
  // BigScience's small GPT-2: 10 of 10 skipped, then 8 of 10, then good.
  StepFeed<ScaleCollapse> f;
  f.Steps({.overflow = true}, 9);
  f.Step({.scale = 0x1p23, .overflow = true});
  for (int i = 0; i < 9; ++i) f.Step({.overflow = i != 4});
  f.Good(0x1p15, 1);
  f.Good(0x1p14, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ALongDescentBetweenStepLinesIsHealthy) {
  // Five halvings in 5000 steps: gradients grow as the warm-up ends.
  StepFeed<ScaleCollapse> f;
  for (int i = 0; i < 51; ++i) {
    f.Step({.scale = std::ldexp(65536, -i / 10), .unseen = 99});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  // The same within 60 steps is what the rule is for: tr1-13B.
  StepFeed<ScaleCollapse> fell;
  fell.Steps({.scale = 65536, .unseen = 9}, 20);
  fell.Step({.scale = 8192, .unseen = 9});
  fell.Step({.scale = 4096, .unseen = 9});
  EXPECT_EQ(fell.worst, Severity::kWarning);
}

TEST(ScaleCollapse, SaysWhatItFellFromFirst) {
  StepFeed<ScaleCollapse> f;
  double scale = 65536;
  f.Good(scale, 300);
  for (int i = 0; i < 40; ++i) f.Step({.scale = scale /= 8, .unseen = 49});
  EXPECT_NE(f.now, Severity::kNone);
  EXPECT_EQ(NumberOf(f.Described(), "scale_before"), 65536);
  EXPECT_EQ(NumberOf(f.Described(), "scale"), scale);
}

TEST(ScaleCollapse, WhereAllIsOverAScaleThatIsBackFellNowhere) {
  const auto end = [](double to) {
    StepFeed<ScaleCollapse> f;
    f.Good(65536, 100);
    for (double scale = f.Fall(65536, 12); scale <= to; scale *= 2) {
      f.Good(scale, 10);
    }
    EXPECT_EQ(f.now, Severity::kCritical);
    return f.End();
  };
  EXPECT_EQ(end(32768), Severity::kNone);
  EXPECT_EQ(end(16384), Severity::kCritical) << "not all of the way";
  EXPECT_EQ(end(128), Severity::kCritical);
}

}  // namespace
}  // namespace nanwatch
