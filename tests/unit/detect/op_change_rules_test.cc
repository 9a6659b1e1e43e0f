// Rules 26 and 41 to 43: an op or an FP8 tensor is not what it was.

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "detect/fp8_clip.h"
#include "detect/fp8_underflow.h"
#include "detect/numeric_mutation.h"
#include "detect/scale_inv_jump.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

// What a status says, as the episode of an op rule counts it.
struct Seen {
  int64_t update = 0;
  bool hit = false;  // the condition holds
  bool clean = true;
};

// Of a rule that opens at `hold` updates with a hit, none more than 10 after
// the one before, and ends at the first clean status `clear` after the last
// that was not.
bool OpenAfter(const std::vector<Seen>& all, int hold, int clear) {
  bool open = false;
  int64_t last_bad = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    int held = 0;
    int64_t later = all[i].update;
    int64_t counted = -1;
    for (size_t k = i + 1; all[i].hit && k-- > 0;) {
      if (!all[k].hit) continue;
      if (later - all[k].update > 10) break;
      held += all[k].update != counted;
      counted = later = all[k].update;
    }
    if (all[i].hit && held >= hold) open = true;
    if (!open) continue;
    if (!all[i].clean) last_bad = all[i].update;
    if (all[i].clean && all[i].update - last_bad >= clear) open = false;
  }
  return open;
}

// Random statuses of one op, some updates apart, through `set`, which makes a
// status hit (2), in between (1) or clean (0).
template <typename Rule, typename Set>
void Compare(int hold, int clear, Severity when_open, Set set) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    OpFeed<Rule> f;
    std::vector<Seen> all;
    unsigned odds = 3;
    for (int i = 0; i < 700; ++i) {
      if (engine() % 60 == 0) odds = 1 + engine() % 300;
      for (unsigned k = engine() % 4; k > 0 || f.step == 0; --k) {
        f.Record({.loss = 2});
        if (k == 0) break;
      }
      const int how = engine() % odds == 0 ? 2 : engine() % 50 == 0 ? 1 : 0;
      set(&f, how);
      const Severity before = f.now;
      f.Status();
      all.push_back({f.tracker.updates(), how == 2, how == 0});
      ASSERT_EQ(f.now,
                OpenAfter(all, hold, clear) ? when_open : Severity::kNone)
          << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 6);
}

// --- 26 numeric_mutation -----------------------------------------------------

TEST(NumericMutation, AChangeNearTheTopWarnsElsewhereItIsANote) {
  OpFeed<NumericMutation> f;
  f.trend.input_abs_max = 2;
  f.trend.calm = 200;
  f.Stat(OpStat::kAbsMax, 3);
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  f.Stat(OpStat::kAbsMax, 5000);
  f.Both({.loss = 2});
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.Stat(OpStat::kAbsMax, 3);
  for (int i = 0; i < 20; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
  f.op.dtype = Dtype::kBf16;
  f.Stat(OpStat::kAbsMax, 5000);
  for (int i = 0; i < 3; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kInfo);
}

TEST(NumericMutation, OpsThatAlwaysAmplifyAreAsTheyAre) {
  OpFeed<NumericMutation> f;
  f.trend.input_abs_max = 1e-3f;  // a normalisation
  f.Stat(OpStat::kAbsMax, 5000);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  }
}

TEST(NumericMutation, AnInputThatWasNotCollectedSaysNothing) {
  OpFeed<NumericMutation> f;
  f.trend.calm = 200;
  f.Stat(OpStat::kAbsMax, 5000);
  for (const float input : {-1.0f, 0.0f}) {
    f.trend.input_abs_max = input;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
    }
  }
}

// A Log over zero padding: its real elements are calm, the buffer that it is
// stored in clamps at every step. The overflow rules tell that.
TEST(NumericMutation, AnOutputThatOverflowedIsNotItsToTell) {
  OpFeed<NumericMutation> f;
  f.trend.input_abs_max = 2;
  f.trend.calm = 200;
  f.Stat(OpStat::kAbsMax, 65504);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  }
  f.Stat(OpStat::kAbsMax, 60000);
  f.status.device_flag = true;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  }
}

TEST(NumericMutation, AgreesWithTheWholeHistory) {
  Compare<NumericMutation>(
      3, 20, Severity::kWarning, [](OpFeed<NumericMutation>* f, int how) {
        f->trend.input_abs_max = 10;
        f->trend.calm = 100;
        f->Stat(OpStat::kAbsMax, how == 2 ? 2000 : how == 1 ? 700 : 20);
      });
}

// --- 41 fp8_clip -------------------------------------------------------------

void Fp8(OpFeed<Fp8Clip>* f, float amax, uint64_t saturated) {
  f->op.dtype = Dtype::kFp8E4M3;
  f->status.elements = 1000000;
  f->Stat(OpStat::kFp8ScaleInv, 0.01f);  // holds up to 4.48
  f->Stat(OpStat::kFp8Amax, amax);
  f->Count(OpCount::kSaturated, saturated);
}

TEST(Fp8Clip, ATensorBeyondItsScaleWarns) {
  OpFeed<Fp8Clip> f;
  Fp8(&f, 9.5f, 0);
  f.Both({.loss = 2});
  f.Both({.loss = 2});
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(Fp8Clip, HealthyTensorsTouchTheTop) {
  OpFeed<Fp8Clip> f;
  Fp8(&f, 4.48f, 3);
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
  Fp8(&f, 7, 900);  // a step's noise
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(Fp8Clip, AScaleABlockPutsEachBlocksLargestOnTop) {
  OpFeed<Fp8Clip> f;
  f.op.dtype = Dtype::kFp8E4M3;
  f.Count(OpCount::kSaturated, 30);  // of 1000, and no scale_inv
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
  f.op.dtype = Dtype::kFp16;
  f.Stat(OpStat::kFp8ScaleInv, 1);
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(Fp8Clip, AgreesWithTheWholeHistory) {
  Compare<Fp8Clip>(3, 50, Severity::kWarning, [](OpFeed<Fp8Clip>* f, int how) {
    Fp8(f, 1, how == 2 ? 2000 : how == 1 ? 500 : 50);
  });
}

// --- 42 fp8_underflow --------------------------------------------------------

TEST(Fp8Underflow, ARiseWarnsALevelDoesNot) {
  OpFeed<Fp8Underflow> f;
  f.op.dtype = Dtype::kFp8E4M3;
  f.trend.usual_zeros = 0.5;  // a ReLU
  f.Count(OpCount::kZero, 520);
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
  f.Count(OpCount::kZero, 600);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(f.Both({.loss = 2}), Severity::kNone);
  EXPECT_EQ(f.Both({.loss = 2}), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(Fp8Underflow, WhatIsUsualMustBeKnown) {
  OpFeed<Fp8Underflow> f;
  f.op.dtype = Dtype::kFp8E5M2;
  f.Count(OpCount::kZero, 900);
  for (int i = 0; i < 100; ++i) f.Both({.loss = 2});
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(Fp8Underflow, AgreesWithTheWholeHistory) {
  Compare<Fp8Underflow>(
      10, 50, Severity::kWarning, [](OpFeed<Fp8Underflow>* f, int how) {
        f->op.dtype = Dtype::kFp8E4M3;
        f->trend.usual_zeros = 0.25f;
        f->Count(OpCount::kZero, how == 2 ? 400 : how == 1 ? 290 : 250);
      });
}

// --- 43 scale_inv_jump -------------------------------------------------------

TEST(ScaleInvJump, AgainAndAgainWarnsOnceDoesNot) {
  OpFeed<ScaleInvJump> f;
  const auto jump = [&](float before, float after) {
    f.trend.scale_inv_before = before;
    f.Stat(OpStat::kFp8ScaleInv, after);
    return f.Both({.loss = 2});
  };
  EXPECT_EQ(jump(0, 1), Severity::kNone) << "the first";
  EXPECT_EQ(jump(1, 8), Severity::kNone);
  for (int i = 0; i < 80; ++i) EXPECT_EQ(jump(1, 1.5), Severity::kNone);
  jump(1, 8);
  EXPECT_EQ(jump(8, 1), Severity::kNone);
  EXPECT_EQ(jump(1, 4), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  for (int i = 0; i < 64; ++i) jump(1, 1);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(ScaleInvJump, AgreesWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    OpFeed<ScaleInvJump> f;
    std::vector<Seen> all;
    unsigned odds = 10;
    for (int i = 0; i < 700; ++i) {
      if (engine() % 100 == 0) odds = 5 + engine() % 300;
      do {
        f.Record({.loss = 2});
      } while (engine() % 3 == 0);
      const bool jump = engine() % odds == 0;
      f.trend.scale_inv_before = 1;
      f.Stat(OpStat::kFp8ScaleInv, jump ? 5 : 1);
      const Severity before = f.now;
      f.Status();
      all.push_back({f.tracker.updates(), jump, !jump});
      bool open = false;
      int64_t last = 0;
      for (size_t k = 0; k < all.size(); ++k) {
        int recent = 0;
        for (size_t j = 0; j <= k; ++j) {
          recent += all[j].hit && all[k].update - all[j].update < 64;
        }
        open |= all[k].hit && recent >= 3;
        if (open && all[k].hit) last = all[k].update;
        if (open && !all[k].hit && all[k].update - last >= 64) open = false;
      }
      ASSERT_EQ(f.now, open ? Severity::kWarning : Severity::kNone) << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

}  // namespace
}  // namespace nanwatch
