#include "compare/floors.h"

#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

using R = Recording;

Recording Apart(double share) {
  Recording recording = Healthy();
  recording.Move(0, R::kDrop, Slot::kOutput, share);
  return recording;
}

Floors FloorsOf(double share) {
  Floors floors;
  floors.Take(Healthy().run, Apart(share).run);
  return floors;
}

TEST(FloorsTest, WhatRepeatsDifferByAccusesNobody) {
  const Floors floors = FloorsOf(1e-3);
  const ComparedRun a = Healthy().run, b = Apart(2e-3).run;
  EXPECT_TRUE(Compare(a, b).first);
  EXPECT_FALSE(Compare(a, b, &floors).first);
}

TEST(FloorsTest, WhatIsFarBeyondThemIsToldWithThem) {
  const Floors floors = FloorsOf(1e-3);
  const Comparison found = Compare(Healthy().run, Apart(1e-2).run, &floors);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->op, "drop");
  EXPECT_GT(found.first->floor, 1e-3);
}

TEST(FloorsTest, EqualRepeatsHideNothing) {
  Floors floors;
  floors.Take(Healthy().run, Healthy().run);
  EXPECT_TRUE(Compare(Healthy().run, Apart(1e-3).run, &floors).first);
}

TEST(FloorsTest, LaterStepsHaveThoseOfTheLastOneBefore) {
  Floors floors;
  floors.steps[2].loss = 0.1;
  floors.steps[4].loss = 0.2;
  EXPECT_EQ(floors.LossAt(1), 0);
  EXPECT_EQ(floors.LossAt(3), 0.1);
  EXPECT_EQ(floors.LossAt(100), 0.2);
}

}  // namespace
}  // namespace nanwatch
