// Rules 8, 16, 18 to 22 and 25: what ops say.

#include <gmock/gmock.h>

#include "detect/near_overflow.h"
#include "detect/op_internal_overflow.h"
#include "detect/op_overflow_origin.h"
#include "detect/op_overflow_propagated.h"
#include "detect/op_saturation.h"
#include "detect/overflow_not_scale_dependent.h"
#include "detect/persistent_op_overflow.h"
#include "detect/weight_nonfinite.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

constexpr Update kGood = {.scale = 1024, .overflow = false};
constexpr Update kLost = {.scale = 1024, .overflow = true};

// --- 8 overflow_not_scale_dependent -----------------------------------------

TEST(OverflowNotScaleDependent, FiresWhenCalibrationIsOverAndTheOpStaysBad) {
  OpFeed<OverflowNotScaleDependent> f(Scaler("pytorch"));
  f.Count(OpCount::kPosInf, 3);
  for (int i = 0; i < 18; ++i) {
    f.Both({.scale = 65536.0 / (1 << i), .overflow = true});
    ASSERT_EQ(f.now, Severity::kNone) << i;
  }
  f.Both({.scale = 0.125, .overflow = true});
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

// PyTorch halves the scale as long as a float32 can hold it.
TEST(OverflowNotScaleDependent, CountsTheHalvingsOfDenormalScales) {
  OpFeed<OverflowNotScaleDependent> f(Scaler("pytorch"));
  f.Count(OpCount::kPosInf, 3);
  double scale = 65536;
  for (int i = 0; i < 165; ++i) {
    f.Both({.scale = scale, .overflow = true});
    scale /= 2;
  }
  f.Both({.scale = scale, .overflow = true});
  f.Both({.scale = scale, .overflow = true});  // stays there
  ExpectWords(f.Described().sentence);
}

TEST(OverflowNotScaleDependent, AGoodUpdateBetweenMeansTheScaleHelped) {
  OpFeed<OverflowNotScaleDependent> f(Scaler("pytorch"));
  f.Count(OpCount::kPosInf, 3);
  for (int i = 0; i < 12; ++i) {
    f.Both({.scale = 65536.0 / (1 << i), .overflow = true});
  }
  f.Record({.scale = 16, .overflow = false});
  f.Both({.scale = 8, .overflow = true});
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(OverflowNotScaleDependent, AGoodUpdateSinceLeavesNoNumbersToSay) {
  OpFeed<OverflowNotScaleDependent> f(Scaler("pytorch"));
  for (int i = 0; i < 110; ++i) f.Record({.scale = 65536, .overflow = false});
  f.Count(OpCount::kPosInf, 3);
  for (int i = 0; i < 12; ++i) {
    f.Both({.scale = 65536.0 / (1 << i), .overflow = true});
  }
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  f.Record({.scale = 16, .overflow = false});
  f.Both({.scale = 8, .overflow = true});
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(OverflowNotScaleDependent, NanInAForwardOutputIsEnough) {
  OpFeed<OverflowNotScaleDependent> f(NoScaler());
  f.Count(OpCount::kNan, 1);
  f.status.slot = Slot::kGradInput;
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
  f.status.slot = Slot::kOutput;
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kCritical);
  f.Count(OpCount::kNan, 0);
  for (int i = 0; i < 49; ++i) f.Both({.loss = 1});
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
}

// A program without a scaler that leaves the update out itself, and says so.
TEST(OverflowNotScaleDependent, WhatTheProgramLeavesOutIsAWarningAtFirst) {
  OpFeed<OverflowNotScaleDependent> f(NoScaler());
  OpFeed<OpOverflowOrigin> g(NoScaler());
  f.status.slot = g.status.slot = Slot::kOutput;
  g.inputs = InputState::kClean;
  f.Count(OpCount::kNan, 1);
  g.Count(OpCount::kNan, 1);
  const Update left_out = {.overflow = true, .skipped = true, .loss = kNan};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(f.Both(left_out), Severity::kWarning);
    EXPECT_EQ(g.Both(left_out), Severity::kWarning);
  }
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Both(left_out), Severity::kCritical);
  EXPECT_EQ(g.Both(left_out), Severity::kCritical);
}

TEST(OverflowNotScaleDependent, DeviceFlagsCountInSaturationMode) {
  OpFeed<OverflowNotScaleDependent> f(Scaler("megatron"));
  f.run.overflow_mode = OverflowMode::kSaturation;
  f.status.device_flag = true;
  double scale = 4294967296.0;
  for (int i = 0; i < 40; ++i) {
    f.Both({.scale = scale, .overflow = true});
    scale = std::max(1.0, scale / 2);
  }
  EXPECT_EQ(f.now, Severity::kCritical);
}

// --- 16 weight_nonfinite -----------------------------------------------------

TEST(WeightNonfinite, LatchesOnParametersOnly) {
  OpFeed<WeightNonfinite> f;
  f.Count(OpCount::kNegInf, 2);
  EXPECT_EQ(f.Both(kGood), Severity::kNone);
  f.status.slot = Slot::kParameter;
  EXPECT_EQ(f.Both(kGood), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  f.Count(OpCount::kNegInf, 0);
  for (int i = 0; i < 500; ++i) f.Both(kGood);
  EXPECT_EQ(f.now, Severity::kCritical);
}

// --- 18 op_overflow_origin ---------------------------------------------------

TEST(OpOverflowOrigin, CleanInputsAndABadOutput) {
  OpFeed<OpOverflowOrigin> f(NoScaler());
  f.inputs = InputState::kClean;
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
  f.Count(OpCount::kPosInf, 7);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(OpOverflowOrigin, UnknownOrBadInputsAreNoOrigin) {
  OpFeed<OpOverflowOrigin> f(NoScaler());
  f.Count(OpCount::kNan, 7);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
  f.inputs = InputState::kBad;
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
}

TEST(OpOverflowOrigin, WhatTheScalerAnswersIsForInformation) {
  OpFeed<OpOverflowOrigin> f(Scaler("pytorch"));
  f.inputs = InputState::kClean;
  f.Count(OpCount::kPosInf, 7);
  f.Record(kGood);
  EXPECT_EQ(f.Both(kLost), Severity::kInfo);
  EXPECT_EQ(f.Both(kLost), Severity::kInfo);
  EXPECT_EQ(f.Both(kLost), Severity::kCritical);
}

TEST(OpOverflowOrigin, CalibrationIsForInformationButNanIsNot) {
  OpFeed<OpOverflowOrigin> f(Scaler("pytorch"));
  f.inputs = InputState::kClean;
  f.Count(OpCount::kPosInf, 7);
  for (int i = 0; i < 10; ++i) f.Both(kLost);
  EXPECT_EQ(f.now, Severity::kInfo);
  f.Count(OpCount::kNan, 1);
  EXPECT_EQ(f.Both(kLost), Severity::kCritical);
}

TEST(OpOverflowOrigin, MaskedLogitsAndPlaceholdersAreMeant) {
  OpFeed<OpOverflowOrigin> mask(NoScaler());
  mask.inputs = InputState::kClean;
  mask.op.type = "MaskedFill";
  mask.Count(OpCount::kNegInf, 400);
  EXPECT_EQ(mask.Both({.loss = 1}), Severity::kNone);
  mask.Count(OpCount::kPosInf, 1);
  EXPECT_EQ(mask.Both({.loss = 1}), Severity::kCritical);
  OpFeed<OverflowNotScaleDependent> recv(NoScaler());
  recv.op.type = "irecv";
  recv.status.slot = Slot::kInput;
  recv.Count(OpCount::kNan, 1000);
  EXPECT_EQ(recv.Both({.loss = 1}), Severity::kNone);
  OpFeed<OpOverflowOrigin> log(NoScaler());  // log(0) is not meant
  log.inputs = InputState::kClean;
  log.op.type = "Log";
  log.Count(OpCount::kNegInf, 1);
  EXPECT_EQ(log.Both({.loss = 1}), Severity::kCritical);
}

TEST(OpOverflowOrigin, AnOpNamedInTheConfigurationIsMasked) {
  OpFeed<OpOverflowOrigin> f(NoScaler());
  f.inputs = InputState::kClean;
  f.masked_ops = {"encoder.*", "decoder.*.scores"};
  f.op.name = "decoder.layers.3.scores";
  f.Count(OpCount::kNegInf, 400);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
  f.op.name = "decoder.layers.3.scores.out";
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kCritical);
}

// An op of no telling type: what comes after takes the -infinity in.
TEST(OpOverflowOrigin, AMaskIsKnownByWhatItLeavesSound) {
  const auto of = [](OpCount count, const Update& update,
                     Slot slot = Slot::kOutput) {
    OpFeed<OpOverflowOrigin> f(NoScaler());
    f.inputs = InputState::kClean;
    f.status.slot = slot;
    f.Count(count, 400);
    return f.Both(update);
  };
  const Update sound = {.loss = 1, .grad_norm = 1};
  EXPECT_EQ(of(OpCount::kNegInf, sound), Severity::kInfo);
  EXPECT_EQ(of(OpCount::kPosInf, sound), Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNan, sound), Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNegInf, sound, Slot::kGradInput), Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNegInf, {.loss = 1}), Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNegInf, {.loss = 1, .grad_norm = kNan}),
            Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNegInf, {.overflow = true, .loss = 1, .grad_norm = 1}),
            Severity::kCritical);
  EXPECT_EQ(of(OpCount::kNegInf, {.loss = kNan, .grad_norm = 1}),
            Severity::kCritical);
}

TEST(OpOverflowOrigin, ClearsFiftyUpdatesAfterTheLastBadStatus) {
  OpFeed<OpOverflowOrigin> f(NoScaler());
  f.inputs = InputState::kClean;
  f.Count(OpCount::kPosInf, 7);
  f.Both({.loss = 1});
  f.Count(OpCount::kPosInf, 0);
  for (int i = 0; i < 48; ++i) f.Record({.loss = 1});  // no status travels
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kCritical);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
}

// --- 19 op_overflow_propagated -----------------------------------------------

TEST(OpOverflowPropagated, NeverMoreThanInformation) {
  OpFeed<OpOverflowPropagated> f(NoScaler());
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kNone);
  f.inputs = InputState::kBad;
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kInfo);
  f.Count(OpCount::kNan, 3);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kInfo);
  ExpectWords(f.Described().sentence);
  f.inputs = InputState::kClean;
  for (int i = 0; i < 50; ++i) f.Both({.loss = 1});
  EXPECT_EQ(f.now, Severity::kNone);
}

// --- 20 persistent_op_overflow -----------------------------------------------

// An op that runs twice an update, of which one is clean.
TEST(PersistentOpOverflow, CountsEveryBadUpdateOnce) {
  for (const bool bad_first : {false, true}) {
    OpFeed<PersistentOpOverflow> f(FixedScale(false));
    for (int i = 0; i < 400; ++i) {
      f.Record(kLost);
      for (const bool bad : {bad_first, !bad_first, bad_first}) {
        f.status.device_flag = bad;
        f.Status();
      }
    }
    ExpectWords(f.Described().sentence);
  }
}

TEST(PersistentOpOverflow, ThreeOfTenUpdates) {
  OpFeed<PersistentOpOverflow> f(FixedScale(false));
  f.status.device_flag = true;
  f.Both(kLost);
  f.Both(kLost);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Both(kLost), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  f.status.device_flag = false;
  for (int i = 0; i < 199; ++i) f.Both(kGood);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Both(kGood), Severity::kNone);
}

TEST(PersistentOpOverflow, AMaskIsForInformation) {
  OpFeed<PersistentOpOverflow> f(NoScaler());
  f.Count(OpCount::kNegInf, 100);
  for (int i = 0; i < 20; ++i) f.Both({.loss = 1, .grad_norm = 1});
  EXPECT_EQ(f.now, Severity::kInfo);
  EXPECT_EQ(f.Both({.loss = kNan, .grad_norm = 1}), Severity::kCritical);
}

TEST(PersistentOpOverflow, SeveralStatusesOfOneUpdateAreOne) {
  OpFeed<PersistentOpOverflow> f(FixedScale());
  f.Count(OpCount::kPosInf, 1);
  f.Record(kLost);
  for (int i = 0; i < 8; ++i) f.Status();
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(PersistentOpOverflow, CalibrationIsForInformation) {
  OpFeed<PersistentOpOverflow> f(Scaler("megatron"));
  f.Count(OpCount::kPosInf, 1);
  for (int i = 0; i < 17; ++i) {
    f.Both({.scale = 4294967296.0 / (1 << i), .overflow = true});
  }
  EXPECT_EQ(f.now, Severity::kInfo);
}

// What its rate and its depth mean the rules of the scale say.
TEST(PersistentOpOverflow, AGradientThatOutgrowsTheScaleIsAWarning) {
  OpFeed<PersistentOpOverflow> f(Scaler("pytorch"));
  f.status.slot = Slot::kGradInput;
  f.Record(kGood);
  f.Count(OpCount::kPosInf, 1);
  for (int i = 0; i < 3; ++i) f.Both(kLost);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Count(OpCount::kNan, 1);
  EXPECT_EQ(f.Both(kLost), Severity::kCritical) << "no scale makes a NaN alone";

  OpFeed<PersistentOpOverflow> forward(Scaler("pytorch"));
  forward.Record(kGood);
  forward.Count(OpCount::kPosInf, 1);
  for (int i = 0; i < 3; ++i) forward.Both(kLost);
  EXPECT_EQ(forward.now, Severity::kCritical);
}

TEST(PersistentOpOverflow, ProbesOfADynamicScalerAreNot) {
  OpFeed<PersistentOpOverflow> f(Scaler("pytorch"));
  f.Record(kGood);
  for (int i = 0; i < 20; ++i) {
    f.status.time += std::chrono::minutes(7);
    f.Count(OpCount::kPosInf, 1);
    f.Both(kLost);
    for (int k = 0; k < 30; ++k) f.Record(kGood);
    ASSERT_EQ(f.now, Severity::kNone);
  }
}

TEST(PersistentOpOverflow, ThreeStrikesWithoutAScaler) {
  OpFeed<PersistentOpOverflow> f(NoScaler());
  f.Count(OpCount::kPosInf, 1);
  const int minutes[] = {10, 12, 30, 33, 60};  // 3 and 4 min are one incident
  for (const int m : minutes) {
    f.status.time = Time(std::chrono::minutes(m));
    f.Both({.loss = 1});
    for (int k = 0; k < 30; ++k) f.Record({.loss = 1});
    ASSERT_EQ(f.now, m == 60 ? Severity::kCritical : Severity::kNone) << m;
  }
}

// --- 21 op_saturation --------------------------------------------------------

TEST(OpSaturation, CountsOrTheLargestValue) {
  OpFeed<OpSaturation> f(FixedScale());
  f.run.overflow_mode = OverflowMode::kSaturation;
  f.Count(OpCount::kSaturated, 5);
  EXPECT_EQ(f.Both(kGood), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  OpFeed<OpSaturation> largest(FixedScale());
  largest.Stat(OpStat::kAbsMax, 65503);
  EXPECT_EQ(largest.Both(kGood), Severity::kNone);
  largest.Stat(OpStat::kAbsMax, 65504);
  EXPECT_EQ(largest.Both(kGood), Severity::kWarning);
}

TEST(OpSaturation, ClampsInInfModeAndFp8AreMeant) {
  OpFeed<OpSaturation> f(FixedScale());
  f.run.overflow_mode = OverflowMode::kInfNan;
  f.Count(OpCount::kSaturated, 5);
  EXPECT_EQ(f.Both(kGood), Severity::kNone);
  f.run.overflow_mode = OverflowMode::kUnknown;
  f.op.dtype = Dtype::kFp8E4M3;
  EXPECT_EQ(f.Both(kGood), Severity::kNone);
}

// --- 22 op_internal_overflow -------------------------------------------------

TEST(OpInternalOverflow, FlagSetAndElementsClean) {
  OpFeed<OpInternalOverflow> f(FixedScale(false));
  f.op.logical_shape = {100, 7};
  f.op.storage_shape = {112, 16};
  f.status.device_flag = true;
  EXPECT_EQ(f.Both(kLost), Severity::kNone) << "nobody looked";
  f.Count(OpCount::kPosInf, 0);
  EXPECT_EQ(f.Both(kLost), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.status.device_flag = false;
  for (int i = 0; i < 50; ++i) f.Both(kGood);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(OpInternalOverflow, BadElementsOrInputsExplainTheFlag) {
  OpFeed<OpInternalOverflow> f(FixedScale(false));
  f.status.device_flag = true;
  f.Count(OpCount::kSaturated, 1);
  EXPECT_EQ(f.Both(kLost), Severity::kNone);
  f.Count(OpCount::kSaturated, 0);
  f.inputs = InputState::kBad;
  EXPECT_EQ(f.Both(kLost), Severity::kNone);
}

// --- 25 near_overflow --------------------------------------------------------

TEST(NearOverflow, HalfOfTheMaximumAtThreeUpdates) {
  OpFeed<NearOverflow> f(NoScaler());
  f.Stat(OpStat::kAbsMax, 32752);
  f.Both({.loss = 1});
  f.Both({.loss = 1});
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Both({.loss = 1}), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.Stat(OpStat::kAbsMax, 20000);  // between the two: neither
  for (int i = 0; i < 100; ++i) f.Both({.loss = 1});
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Stat(OpStat::kAbsMax, 16000);
  for (int i = 0; i < 50; ++i) f.Both({.loss = 1});
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(NearOverflow, GradientsAndFp8AreAtTheEdgeOnPurpose) {
  OpFeed<NearOverflow> f(Scaler("pytorch"));
  f.Stat(OpStat::kAbsMax, 60000);
  f.status.slot = Slot::kGradInput;
  for (int i = 0; i < 10; ++i) f.Both(kGood);
  EXPECT_EQ(f.now, Severity::kNone);
  f.status.slot = Slot::kOutput;
  f.op.dtype = Dtype::kFp8E4M3;
  f.Stat(OpStat::kAbsMax, 440);
  for (int i = 0; i < 10; ++i) f.Both(kGood);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(NearOverflow, RareTouchesAreNoSeries) {
  OpFeed<NearOverflow> f(NoScaler());
  f.Stat(OpStat::kAbsMax, 40000);
  for (int i = 0; i < 20; ++i) {
    f.Both({.loss = 1});
    for (int k = 0; k < 20; ++k) f.Record({.loss = 1});
  }
  EXPECT_EQ(f.now, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
