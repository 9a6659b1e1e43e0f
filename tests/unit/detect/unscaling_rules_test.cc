// Rules 58 and 59: gradients that are clipped or unscaled at the wrong place.

#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "detect/clipped_before_unscaling.h"
#include "detect/unscaled_twice.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

Update Norm(double norm, double scale = 65536) {
  return {.scale = scale, .overflow = false, .grad_norm = norm};
}

// --- 58 clipped_before_unscaling ---------------------------------------------

TEST(ClippedBeforeUnscaling, ALimitDividedByTheScaleIsAWarning) {
  for (const double limit : {0.1, 0.25, 0.5, 1.0, 5.0, 10.0}) {
    for (const double scale : {64.0, 1024.0, 16384.0, 65536.0}) {
      StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
      // torch adds 1e-6 to the norm that it divides by.
      f.Steps(Norm(limit * 0.99999 / scale, scale), 15);
      EXPECT_EQ(f.now, Severity::kNone);
      f.Step(Norm(limit / scale, scale));
      EXPECT_EQ(f.now, Severity::kWarning) << limit << " at " << scale;
      EXPECT_EQ(f.Described().opened_step, 1);
      ExpectWords(f.Described().sentence);
    }
  }
}

TEST(ClippedBeforeUnscaling, WhatTheClientSawIsAWarning) {
  StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(f.now, Severity::kNone);
    f.Step({.scale = 1024,
            .grad_norm = 0.5 + 0.1 * i,
            .fault = UpdateFault::kClippedScaled});
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 1);
  ExpectWords(f.Described().sentence);
  for (int i = 0; i < 16; ++i) f.Step(Norm(0.5 + 0.1 * i));
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(ClippedBeforeUnscaling, ALimitOfManyDigitsIsKnownOnceTheScaleMoves) {
  StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
  f.Steps(Norm(0.73217 / 65536), 100);
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Step(Norm(0.73217 / 131072, 131072));
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(ClippedBeforeUnscaling, ItIsOverWithAsManyOthers) {
  StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
  f.Steps(Norm(1 / 65536.0), 30);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(f.now, Severity::kWarning);
    f.Step(Norm(0.5 + 0.1 * i));
  }
  EXPECT_EQ(f.now, Severity::kNone);
}

// What is printed after clipping, with the digits of a log, is the limit.
TEST(ClippedBeforeUnscaling, ANormThatIsTheLimitIsNone) {
  for (const double norm : {0.001, 0.1, 0.125, 0.25, 0.5, 1.0, 2.0, 5.0}) {
    for (double scale = 8; scale < 1e6; scale *= 2) {
      StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
      f.Steps(Norm(norm, scale), 200);
      f.Steps(Norm(norm, 2 * scale), 200);
      EXPECT_EQ(f.worst, Severity::kNone) << norm << " at " << scale;
    }
  }
}

TEST(ClippedBeforeUnscaling, NoScaleAndNoNumberSayNothing) {
  StepFeed<ClippedBeforeUnscaling> f(Scaler("pytorch"));
  for (const double norm : {0.0, kNan, kInf}) f.Steps(Norm(norm), 40);
  f.Steps(Norm(1.0, 1), 40);
  f.Steps({.grad_norm = 1.0 / 65536}, 40);
  f.Steps({.scale = 65536, .loss = 1}, 40);
  EXPECT_EQ(f.worst, Severity::kNone);
}

// All of the history again at each record.
class Reference {
 public:
  Severity Step(const Update& update) {
    history_.push_back(update);
    bool open = false;
    size_t same = 0;
    size_t others = 0;
    bool moved = false;
    double limit = 0;
    double before = 0;
    for (const Update& a : history_) {
      if (!a.grad_norm || !a.scale || *a.scale < 8 || !(*a.grad_norm > 0) ||
          !std::isfinite(*a.grad_norm)) {
        continue;
      }
      const double product = *a.grad_norm * *a.scale;
      if (std::abs(product - limit) <= 1e-3 * limit) {
        ++same;
        moved = moved || *a.scale != before;
        others = 0;
      } else {
        limit = product;
        same = 1;
        moved = false;
        ++others;
      }
      before = *a.scale;
      // Limits here have one digit, norms many.
      if (same >= 16 && (moved || limit == 4)) open = true;
      if (others >= 16) open = false;
    }
    return open ? Severity::kWarning : Severity::kNone;
  }

 private:
  std::vector<Update> history_;
};

TEST(ClippedBeforeUnscaling, AgreesWithItsReference) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    std::minstd_rand random(seed);
    StepFeed<ClippedBeforeUnscaling> feed(Scaler("pytorch"));
    Reference reference;
    double limit = 0;
    double scale = 65536;
    Severity last = Severity::kNone;
    for (int i = 0; i < 600; ++i) {
      if (random() % 40 == 0) {
        limit = std::vector<double>{0, 4, 0.73217}[random() % 3];
      }
      if (random() % 25 == 0) scale = random() % 2 == 0 ? 2048 : 65536;
      Update a = Norm(limit != 0 ? limit / scale
                                 : 0.7 + static_cast<double>(random() % 997),
                      scale);
      if (random() % 50 == 0) a.grad_norm.reset();
      if (random() % 50 == 0) a.grad_norm = kInf;
      feed.Step(a);
      ASSERT_EQ(feed.now, reference.Step(a)) << seed << " at " << i;
      changes += feed.now != last;
      last = feed.now;
    }
  }
  EXPECT_GE(changes, 24) << "the random runs say too little of this rule";
}

// --- 59 unscaled_twice -------------------------------------------------------

Update Applied(double norm, double applied, double scale = 65536) {
  Update a = Norm(norm, scale);
  a.applied_grad_norm = applied;
  return a;
}

TEST(UnscaledTwice, TwoLooksAreAWarningFromTheFirst) {
  StepFeed<UnscaledTwice> f(Scaler("pytorch"));
  f.Steps(Norm(2), 31);
  f.Step(Applied(2, 2 / 65536.0));
  EXPECT_EQ(f.now, Severity::kNone);
  f.Steps(Norm(2), 31);
  f.Step(Applied(3, 3 / 65536.0));
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 32);
  ExpectWords(f.Described().sentence);
  f.Step(Applied(3, 3));
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(UnscaledTwice, ClippingIsNone) {
  StepFeed<UnscaledTwice> f(Scaler("pytorch"));
  std::minstd_rand random(1);
  for (int i = 0; i < 2000; ++i) {
    const double norm = 0.1 + static_cast<double>(random() % 997) * 4;
    f.Step(Applied(norm, std::min(norm, 1.0)));
    f.Step(Applied(norm, norm));
    f.Step(Applied(norm, 0));
    f.Step(Applied(kInf, kInf));
    f.Step(Applied(norm, norm, 1));
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
