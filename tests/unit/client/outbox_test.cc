#include "client_lib/src/outbox.h"

#include <gmock/gmock.h>

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

Outgoing Steps(uint64_t count) {
  return {.kind = v1::IngestRequest::kSteps,
          .body = "body",
          .records = {.steps = count}};
}

// Sends all, returns the newly sent records.
uint64_t SendAll(Outbox* outbox) {
  uint64_t sent = 0;
  while (outbox->Next() != nullptr) sent += outbox->MarkSent();
  return sent;
}

TEST(OutboxTest, KeepsUntilAcknowledged) {
  Outbox outbox;
  for (uint64_t n : {1, 2, 3}) outbox.Push(Steps(n));
  EXPECT_EQ(SendAll(&outbox), 6u);
  EXPECT_EQ(outbox.Acknowledge(2), 3u);
  EXPECT_EQ(outbox.Acknowledge(2), 0u) << "an old ack";
  EXPECT_EQ(outbox.size(), 1u);
  EXPECT_EQ(outbox.Acknowledge(3), 3u);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.bytes(), 0u);
  EXPECT_EQ(outbox.acknowledged(), 3u);
}

TEST(OutboxTest, WhatWasNotSentCannotBeAcknowledged) {
  Outbox outbox;
  outbox.Push(Steps(1));
  EXPECT_EQ(outbox.Acknowledge(9), 0u);
  EXPECT_EQ(outbox.next_sequence(), 1u);
}

TEST(OutboxTest, RewindSendsAgainWithTheSameSequence) {
  Outbox outbox;
  for (uint64_t n : {1, 2, 3}) outbox.Push(Steps(n));
  SendAll(&outbox);
  outbox.Rewind(2);
  EXPECT_EQ(outbox.next_sequence(), 2u);
  EXPECT_EQ(outbox.Next()->records.steps, 2u);
  EXPECT_EQ(SendAll(&outbox), 0u) << "counted as sent once";
}

TEST(OutboxTest, ResumeDropsWhatIsHeldAndSendsTheRest) {
  Outbox outbox;
  for (uint64_t n : {1, 2, 3}) outbox.Push(Steps(n));
  SendAll(&outbox);
  EXPECT_EQ(outbox.Resume(1), 1u);
  EXPECT_EQ(outbox.next_sequence(), 2u);
  EXPECT_EQ(outbox.Next()->records.steps, 2u);
}

TEST(OutboxTest, ResumeWithALostHistoryGoesOnFromThere) {
  Outbox outbox;
  for (uint64_t n : {1, 2, 3}) outbox.Push(Steps(n));
  SendAll(&outbox);
  outbox.Acknowledge(2);
  EXPECT_EQ(outbox.Resume(0), 0u);
  EXPECT_EQ(outbox.next_sequence(), 1u);
  EXPECT_EQ(outbox.Next()->records.steps, 3u);
  outbox.PushFront(Steps(9));
  EXPECT_EQ(outbox.Next()->records.steps, 9u);
  SendAll(&outbox);
  EXPECT_EQ(outbox.Acknowledge(2), 12u);
}

TEST(OutboxTest, ARefusedMessageBecomesAReportOfItself) {
  Outbox outbox;
  outbox.Push(Steps(5));
  outbox.Push(Steps(1));
  SendAll(&outbox);
  EXPECT_EQ(outbox.Refuse(1).steps, 5u);
  EXPECT_EQ(outbox.Refuse(1).steps, 0u) << "once";
  EXPECT_EQ(outbox.Refuse(7).steps, 0u) << "not ours";
  outbox.Resume(0);
  EXPECT_EQ(outbox.Next()->kind, v1::IngestRequest::kDropped);
  SendAll(&outbox);
  EXPECT_EQ(outbox.Acknowledge(2), 1u);
}

}  // namespace
}  // namespace nanwatch_client
