#include "base/fair_mailbox.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

namespace nanwatch {
namespace {

using testing::ElementsAre;

constexpr uint64_t kAnn = 1;
constexpr uint64_t kBob = 2;
constexpr size_t kTurn = 1000;

class FairMailboxTest : public testing::Test {
 protected:
  Offered Push(uint64_t user, int item, size_t bytes = 100) {
    return box_.TryPush(user, std::move(item), bytes);
  }
  std::vector<int> Pop(size_t bytes = 1 << 30) {
    std::vector<int> out;
    box_.PopSome(
        Duration(0), bytes, [&](uint64_t user) { return user != held_; }, &out);
    return out;
  }

  FairMailbox<int> box_{100, 100000, kTurn};
  uint64_t held_ = 0;
};

TEST_F(FairMailboxTest, KeepsTheOrderOfEachAndServesThemInTurns) {
  for (int i = 0; i < 9; ++i) Push(kAnn, i, 800);
  Push(kBob, 100);
  Push(kBob, 101);
  // Ann's first item takes her turn.
  EXPECT_THAT(Pop(), ElementsAre(0, 100, 101, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(FairMailboxTest, WhoTookMoreThanHisTurnPaysForIt) {
  Push(kAnn, 0, 9000);
  Push(kAnn, 1);
  for (int i = 10; i < 20; ++i) Push(kBob, i, 1000);
  const std::vector<int> taken = Pop();
  ASSERT_EQ(taken.size(), 12u);
  EXPECT_EQ(taken.front(), 0);
  // 9,256 bytes of Ann's against 1,256 each of Bob's.
  EXPECT_EQ(std::find(taken.begin(), taken.end(), 1) - taken.begin(), 9);
}

TEST_F(FairMailboxTest, TakesAboutSoMuchAtATime) {
  for (int i = 0; i < 6; ++i) Push(kAnn, i, 800);
  EXPECT_THAT(Pop(1), ElementsAre(0));
  EXPECT_THAT(Pop(2000), ElementsAre(1, 2));
  EXPECT_EQ(box_.size(), 3u);
  EXPECT_THAT(Pop(), ElementsAre(3, 4, 5));
  EXPECT_THAT(Pop(), ElementsAre());
}

TEST_F(FairMailboxTest, WhoHasToWaitIsPassedOver) {
  held_ = kAnn;
  Push(kAnn, 0);
  Push(kBob, 10);
  EXPECT_THAT(Pop(), ElementsAre(10));
  EXPECT_THAT(Pop(), ElementsAre());
  held_ = 0;
  EXPECT_THAT(Pop(), ElementsAre(0));
}

TEST_F(FairMailboxTest, OneAloneHasHalfAndLeavesRoomForTheNext) {
  int taken = 0;
  while (Push(kAnn, taken, 3000) != Offered::kFull) ++taken;
  EXPECT_EQ(taken, 17);  // 51,000 of 100,000
  EXPECT_NE(Push(kBob, 0, 40000), Offered::kFull);
  EXPECT_EQ(Push(kBob, 0, 40000), Offered::kFull);
  EXPECT_EQ(Push(kAnn, 0, 1), Offered::kFull);
  Pop();
  // Anything, where there is nothing.
  EXPECT_NE(Push(kAnn, 0, 1 << 20), Offered::kFull);
  EXPECT_EQ(Push(kBob, 0, 1), Offered::kFull);
}

TEST_F(FairMailboxTest, CountsItemsAsItCountsBytes) {
  int taken = 0;
  while (Push(kAnn, taken, 0) != Offered::kFull) ++taken;
  EXPECT_EQ(taken, 50);
  EXPECT_NE(Push(kBob, 0, 0), Offered::kFull);
}

TEST_F(FairMailboxTest, SaysWhoPresses) {
  EXPECT_EQ(Push(kAnn, 0, 10000), Offered::kTaken);
  EXPECT_FALSE(box_.Presses(kAnn));
  EXPECT_EQ(Push(kAnn, 0, 25000), Offered::kPressing);
  EXPECT_TRUE(box_.Presses(kAnn));
  EXPECT_FALSE(box_.Presses(kBob));
  EXPECT_EQ(Push(kBob, 0, 10000), Offered::kTaken);
  while (!Pop().empty()) {
  }
  EXPECT_FALSE(box_.Presses(kAnn));
}

TEST_F(FairMailboxTest, AnEndComesBehindAllElseAndAlwaysFits) {
  int last = 0;
  while (Push(kAnn, last, 3000) != Offered::kFull) ++last;
  box_.PushAlways(kAnn, 1000);
  EXPECT_EQ(Pop().back(), 1000);
}

TEST_F(FairMailboxTest, WhatIsRefusedStaysWithTheCaller) {
  FairMailbox<std::unique_ptr<int>> box{1, 100, kTurn};
  box.TryPush(kAnn, std::make_unique<int>(1), 1);
  auto item = std::make_unique<int>(2);
  EXPECT_EQ(box.TryPush(kAnn, std::move(item), 1), Offered::kFull);
  ASSERT_NE(item, nullptr);
  box.Close();
  std::vector<std::unique_ptr<int>> out;
  box.PopSome(
      Duration(0), 1 << 20, [](uint64_t) { return true; }, &out);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(box.TryPush(kAnn, std::move(item), 1), Offered::kFull);
  box.PushAlways(kAnn, std::move(item));
  EXPECT_EQ(box.size(), 0u);
}

}  // namespace
}  // namespace nanwatch
