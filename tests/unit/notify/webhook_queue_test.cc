#include "notify/webhook_queue.h"

#include <gmock/gmock.h>

#include "tests/unit/notify/notice_fixture.h"

namespace nanwatch {
namespace {

class WebhookQueueTest : public ::testing::Test {
 protected:
  explicit WebhookQueueTest(Duration settle = Duration(0))
      : queue_(Severity::kWarning, settle) {}

  // The id of the incident that is due, and forgets it; 0: none.
  uint64_t Pop(int64_t seconds) {
    const Notice* due = queue_.Due(At(seconds));
    if (due == nullptr) return 0;
    const uint64_t id = due->incident.id;
    queue_.Sent();
    return id;
  }
  WebhookQueue queue_;
};

class SettlingWebhookQueueTest : public WebhookQueueTest {
 protected:
  SettlingWebhookQueueTest() : WebhookQueueTest(std::chrono::seconds(1)) {}
};

TEST_F(WebhookQueueTest, FirstComeFirstTold) {
  queue_.Take(At(0), Firing(9));
  queue_.Take(At(0), Firing(2));
  EXPECT_EQ(Pop(0), 9u);
  EXPECT_EQ(Pop(0), 2u);
  EXPECT_EQ(Pop(0), 0u);
}

TEST_F(WebhookQueueTest, OnlyTheNewestOfAnIncidentWaits) {
  queue_.Take(At(0), Firing(9));
  queue_.Take(At(0), Firing(2));
  queue_.Take(At(0), Resolved(Firing(9), 5));
  ASSERT_EQ(queue_.size(), 2u);
  EXPECT_TRUE(queue_.Due(At(5))->resolved);
}

TEST_F(WebhookQueueTest, InfoAndMutedOnesAreNotTold) {
  queue_.Take(At(0), Firing(1, Severity::kInfo));
  queue_.Take(At(0), Resolved(Firing(1, Severity::kInfo), 3));
  queue_.Take(At(0), Firing(2));
  queue_.Take(At(0), Muted(Firing(2)));
  queue_.Take(At(0), Muted(Firing(3)));
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(WebhookQueueTest, OfWhatIsReleasedNothingMoreIsSaid) {
  queue_.Take(At(0), Firing(1));
  EXPECT_EQ(Pop(0), 1u);
  queue_.Take(At(0), Firing(2));
  queue_.Release(KeyOf(Firing(1)));
  queue_.Release(KeyOf(Firing(2)));
  EXPECT_EQ(queue_.size(), 0u);
  queue_.Take(At(1), Muted(Firing(1)));
  EXPECT_EQ(Pop(1), 0u);
}

TEST_F(WebhookQueueTest, OfAMuteIsToldWhereTheFiringWas) {
  queue_.Take(At(0), Firing(1));
  EXPECT_EQ(Pop(0), 1u);
  queue_.Take(At(0), Muted(Firing(1)));
  ASSERT_NE(queue_.Due(At(0)), nullptr);
  EXPECT_TRUE(queue_.Due(At(0))->incident.muted);
  EXPECT_EQ(Pop(0), 1u);
  queue_.Take(At(0), Muted(Firing(1)));
  EXPECT_EQ(queue_.size(), 0u) << "once";
  queue_.Take(At(0), Firing(1));
  EXPECT_EQ(Pop(0), 1u) << "unmuted";
  queue_.Adopt(Firing(4));
  queue_.Take(At(0), Muted(Firing(4)));
  EXPECT_EQ(Pop(0), 4u) << "an earlier daemon told of it";
}

TEST_F(SettlingWebhookQueueTest, OneTroubleIsOneCall) {
  queue_.Take(At(0), Firing(1, Severity::kWarning));
  EXPECT_EQ(queue_.Due(At(0)), nullptr);
  EXPECT_EQ(queue_.NextDue(), At(1));
  queue_.Take(At(0), Firing(1, Severity::kCritical));
  ASSERT_NE(queue_.Due(At(1)), nullptr);
  EXPECT_EQ(queue_.Due(At(1))->incident.severity, Severity::kCritical);
  EXPECT_EQ(Pop(1), 1u);
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(WebhookQueueTest, OnlyWhatPeopleGoByIsToldAgain) {
  Notice notice = Firing(1, Severity::kWarning);
  notice.incident.cause = Cause::kUnexplained;
  queue_.Take(At(0), notice);
  EXPECT_EQ(Pop(0), 1u);
  notice.incident.opened_step = 7;
  queue_.Take(At(1), notice);
  EXPECT_EQ(queue_.size(), 0u) << "another name of where it began";
  notice.incident.cause = Cause::kDivergence;
  queue_.Take(At(2), notice);
  EXPECT_EQ(Pop(2), 1u) << "now the cause is known";
  notice.incident.cause = Cause::kHarmlessPadding;
  queue_.Take(At(3), notice);
  EXPECT_EQ(queue_.size(), 0u);
  notice.incident.severity = Severity::kCritical;
  queue_.Take(At(4), notice);
  EXPECT_EQ(Pop(4), 1u);
}

TEST_F(SettlingWebhookQueueTest, ATrainingThatDiesOfItIsStillSaidToFireFirst) {
  queue_.Take(At(0), Firing(1));
  queue_.Take(At(0), Resolved(Firing(1), 0));
  ASSERT_NE(queue_.Due(At(0)), nullptr);
  EXPECT_FALSE(queue_.Due(At(0))->resolved);
  EXPECT_EQ(Pop(0), 1u);
  ASSERT_NE(queue_.Due(At(0)), nullptr);
  EXPECT_TRUE(queue_.Due(At(0))->resolved);
  EXPECT_EQ(Pop(0), 1u);
  EXPECT_EQ(Pop(9), 0u);
}

TEST_F(SettlingWebhookQueueTest, LastWordsDoNotSettle) {
  queue_.Take(At(0), Firing(1));
  queue_.Hurry();
  EXPECT_EQ(Pop(0), 1u);
}

TEST_F(WebhookQueueTest, AResolvedOneIsToldEvenIfItWasHarmlessAtLast) {
  Notice notice = Resolved(Firing(1, Severity::kInfo), 9);
  notice.incident.worst = Severity::kCritical;
  queue_.Take(At(0), notice);
  EXPECT_EQ(Pop(9), 1u);
}

TEST_F(WebhookQueueTest, WaitsLongerAfterEachFailure) {
  queue_.Take(At(0), Firing(1));
  queue_.Failed(At(0), std::nullopt, 0);
  EXPECT_EQ(queue_.NextDue(), At(0) + std::chrono::milliseconds(500));
  EXPECT_EQ(queue_.Due(At(0)), nullptr);
  queue_.Failed(At(1), std::nullopt, 0);
  EXPECT_EQ(queue_.NextDue(), At(2));
  queue_.Failed(At(2), std::chrono::seconds(90), 0);
  EXPECT_EQ(queue_.NextDue(), At(92));
  EXPECT_EQ(Pop(92), 1u);
  queue_.Take(At(0), Firing(2));
  EXPECT_EQ(Pop(92), 2u);
}

TEST_F(WebhookQueueTest, TheOldestIsDroppedBeyondTheLimit) {
  for (uint64_t id = 1; id <= 10000; ++id) {
    ASSERT_TRUE(queue_.Take(At(0), Firing(id)));
  }
  EXPECT_FALSE(queue_.Take(At(0), Firing(10001)));
  EXPECT_EQ(queue_.size(), 10000u);
  EXPECT_EQ(Pop(0), 2u);
}

}  // namespace
}  // namespace nanwatch
