#include "client_lib/src/ring.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

namespace nanwatch_client {
namespace {

bool PushNumber(Ring* ring, uint64_t number, size_t bytes = sizeof(number)) {
  char* room = ring->Reserve(FrameKind::kStep, bytes);
  if (room == nullptr) return false;
  memcpy(room, &number, sizeof number);
  ring->Commit();
  return true;
}

uint64_t Number(const Frame& frame) {
  uint64_t number = 0;
  memcpy(&number, frame.data, sizeof number);
  return number;
}

TEST(RingTest, KeepsOrderAcrossManyTurns) {
  Ring ring(4096);
  uint64_t next = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    while (!PushNumber(&ring, i, 8 + i % 200)) {
      Frame frame;
      while (ring.Next(&frame)) EXPECT_EQ(Number(frame), next++);
      ring.Release();
    }
  }
  Frame frame;
  while (ring.Next(&frame)) EXPECT_EQ(Number(frame), next++);
  EXPECT_EQ(next, 20'000u);
}

TEST(RingTest, SaysWhenItIsFullAndGoesOnAfterRelease) {
  Ring ring(4096);
  int pushed = 0;
  while (PushNumber(&ring, 1)) ++pushed;
  EXPECT_EQ(pushed, 4096 / 16);
  Frame frame;
  ASSERT_TRUE(ring.Next(&frame));
  EXPECT_FALSE(PushNumber(&ring, 2)) << "what was taken still has its room";
  ring.Release();
  EXPECT_TRUE(PushNumber(&ring, 2));
}

TEST(RingTest, NothingIsSeenBeforeCommit) {
  Ring ring(4096);
  ASSERT_NE(ring.Reserve(FrameKind::kOp, 100), nullptr);
  Frame frame;
  EXPECT_EQ(ring.Used(), 0u);
  EXPECT_FALSE(ring.Next(&frame));
}

TEST(RingTest, RefusesAFrameThatCouldNeverFit) {
  Ring ring(4096);
  EXPECT_EQ(ring.Reserve(FrameKind::kOp, 4096), nullptr);
  EXPECT_NE(ring.Reserve(FrameKind::kOp, 2000), nullptr);
}

TEST(RingTest, TwoThreadsLoseNothing) {
  constexpr uint64_t kRecords = 200'000;
  Ring ring(1 << 14);
  std::thread pusher([&ring] {
    for (uint64_t i = 0; i < kRecords; ++i) {
      while (!PushNumber(&ring, i, 8 + i % 100)) std::this_thread::yield();
    }
  });
  uint64_t next = 0;
  while (next < kRecords) {
    Frame frame;
    while (ring.Next(&frame)) ASSERT_EQ(Number(frame), next++);
    ring.Release();
  }
  pusher.join();
  EXPECT_EQ(ring.Used(), 0u);
}

}  // namespace
}  // namespace nanwatch_client
