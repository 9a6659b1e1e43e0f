#include "logs/unread_kinds.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(UnreadKinds, LinesWithTheSameWordsAreOneKind) {
  UnreadKinds kinds;
  EXPECT_EQ(kinds.most().lines, 0u);
  kinds.Note("worker[1] u 12 aloss 2.31", 3);
  kinds.Note("worker[2] u 13 aloss 2.29", 4);
  kinds.Note("the loss is 2.25 now", 5);
  EXPECT_EQ(kinds.most().lines, 2u);
  EXPECT_EQ(kinds.most().first, 3u);
}

TEST(UnreadKinds, WhatSaysNoStepsLossIsNone) {
  UnreadKinds kinds;
  kinds.Note("2.31 and 2.29", 1);
  kinds.Note("loss scale 1024.5", 2);
  kinds.Note("best loss 2.31", 3);
  kinds.Note("validation loss 2.31", 4);
  EXPECT_EQ(kinds.most().lines, 0u);
}

TEST(UnreadKinds, ANumberThatTurnsToNanIsLost) {
  UnreadKinds kinds;
  kinds.Note("worker[1] u 12 aloss 2.31", 1);
  for (int i = 2; i < 5; ++i) {
    EXPECT_FALSE(kinds.most().lost()) << i;
    kinds.Note("worker[1] u 12 aloss nan", i);
  }
  EXPECT_TRUE(kinds.most().lost());
  kinds.Note("worker[1] u 12 aloss 2.31", 5);
  EXPECT_FALSE(kinds.most().lost());
}

TEST(UnreadKinds, ARowOfABoxIsReadWithItsBox) {
  UnreadKinds kinds;
  kinds.Note("| loss      |  2.31 |", 1);
  EXPECT_EQ(kinds.most().lines, 0u);
}

}  // namespace
}  // namespace nanwatch
