#include "notify/alert_table.h"

#include <gmock/gmock.h>

#include "tests/unit/notify/notice_fixture.h"

namespace nanwatch {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class AlertTableTest : public ::testing::Test {
 protected:
  AlertTableTest() { options_.settle = Duration(0); }
  std::vector<Alert> Send(int64_t seconds) {
    std::vector<Alert> due = table_.Due(At(seconds), 64);
    table_.Settle(At(seconds), due);
    return due;
  }
  NotifyOptions options_;
  AlertTable table_{options_};
};

TEST_F(AlertTableTest, SaysItAgainEveryMinute) {
  table_.Take(At(0), Firing(1));
  std::vector<Alert> sent = Send(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].starts, At(0));
  EXPECT_EQ(sent[0].ends, At(240));
  EXPECT_THAT(Send(59), IsEmpty());
  EXPECT_EQ(table_.NextDue(), At(60));
  EXPECT_THAT(Send(60), SizeIs(1));
}

TEST_F(AlertTableTest, WhatIsReleasedIsAnotherDaemons) {
  table_.Take(At(0), Firing(1));
  table_.Take(At(0), Firing(2));
  EXPECT_THAT(Send(0), SizeIs(1));
  table_.Release(KeyOf(Firing(1)));
  // The other one goes on, and nothing resolves.
  std::vector<Alert> sent = Send(60);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(300));
  table_.Release(KeyOf(Firing(2)));
  EXPECT_THAT(Send(120), IsEmpty());
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(AlertTableTest, ABetterNameIsNoOtherAlert) {
  table_.Take(At(0), Firing(1));
  Send(0);
  Notice renamed = Firing(1);
  renamed.incident.family = Family::kLoss;
  renamed.incident.rule = RuleId::kLossSpike;
  table_.Take(At(5), renamed);
  const std::vector<Alert> sent = Send(5);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].labels.alertname, "NanwatchLossScale");
  EXPECT_EQ(sent[0].labels.condition, "scale");
  EXPECT_EQ(sent[0].starts, At(0));
  EXPECT_EQ(table_.size(), 1u);
}

TEST_F(AlertTableTest, SaysFiringForTheHoldAndResolvedForTenMinutes) {
  table_.Take(At(0), Firing(1));
  Send(0);
  table_.Take(At(5), Resolved(Firing(1), 5));
  EXPECT_THAT(Send(5), IsEmpty());
  EXPECT_EQ(table_.NextDue(), At(35));
  std::vector<Alert> sent = Send(35);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(35));
  int resolved = 0;
  for (int64_t t = 36; t < 1000; ++t) {
    for (const Alert& alert : Send(t)) {
      EXPECT_EQ(alert.ends, At(35));
      ++resolved;
    }
  }
  EXPECT_EQ(resolved, 10);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(table_.NextDue(), std::nullopt);
}

TEST_F(AlertTableTest, WhatResolvedBeforeItWasHeardIsFirstSaidToFire) {
  table_.Take(At(0), Firing(1));
  table_.Due(At(0), 64);  // nobody accepted it
  table_.Take(At(5), Resolved(Firing(1), 5));
  std::vector<Alert> sent = Send(100);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_GT(sent[0].ends, At(100));
  sent = Send(135);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(135));
}

TEST_F(AlertTableTest, WhatNobodyHeardForTooLongIsForgotten) {
  table_.Take(At(0), Firing(1));
  table_.Take(At(5), Resolved(Firing(1), 5));
  EXPECT_THAT(Send(5 + 601), IsEmpty());
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(AlertTableTest, OneAlertForIncidentsWithTheSameLabels) {
  table_.Take(At(0), Firing(1));
  table_.Take(At(0), Firing(2, Severity::kCritical, 1));
  std::vector<Alert> sent = Send(0);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].incidents, 2u);
  EXPECT_EQ(sent[0].shown.incident.id, 1u);
  table_.Take(At(50), Resolved(Firing(1), 50));
  sent = Send(50);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(290));
  EXPECT_EQ(sent[0].shown.incident.id, 2u);
  table_.Take(At(70), Resolved(Firing(2), 70));
  sent = Send(110);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(70));
}

TEST_F(AlertTableTest, AnotherSeverityIsAnotherAlertAndTheOldOneEnds) {
  table_.Take(At(0), Firing(1, Severity::kWarning));
  Send(0);
  table_.Take(At(50), Firing(1, Severity::kCritical));
  const std::vector<Alert> sent = Send(50);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].labels.severity, "critical");
  EXPECT_EQ(sent[0].ends, At(290));
  EXPECT_EQ(sent[1].labels.severity, "warning");
  EXPECT_EQ(sent[1].ends, At(50));
}

TEST_F(AlertTableTest, AWarningThatBecomesCriticalAtOnceIsOneAlert) {
  options_.settle = std::chrono::seconds(1);
  table_.Take(At(0), Firing(1, Severity::kWarning));
  EXPECT_THAT(Send(0), IsEmpty());
  EXPECT_EQ(table_.NextDue(), At(1));
  table_.Take(At(0), Firing(1, Severity::kCritical));
  const std::vector<Alert> sent = Send(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].labels.severity, "critical");
  EXPECT_THAT(Send(59), IsEmpty()) << "nothing of the warning";
}

TEST_F(AlertTableTest, WhatIsOverBeforeItSettledIsStillSaidToFire) {
  options_.settle = std::chrono::seconds(1);
  table_.Take(At(0), Firing(1));
  table_.Take(At(0), Resolved(Firing(1), 0));
  EXPECT_THAT(Send(0), IsEmpty());
  const std::vector<Alert> sent = Send(1);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_GT(sent[0].ends, At(1));
}

TEST_F(AlertTableTest, LastWordsDoNotSettle) {
  options_.settle = std::chrono::seconds(1);
  table_.Take(At(0), Firing(1));
  table_.Hurry();
  EXPECT_THAT(Send(0), SizeIs(1));
}

TEST_F(AlertTableTest, InfoIsNotSaid) {
  table_.Take(At(0), Firing(1, Severity::kInfo));
  EXPECT_THAT(Send(0), IsEmpty());
}

TEST_F(AlertTableTest, AMuteResolvesAtOnceAndAnUnmuteFiresAgain) {
  table_.Take(At(0), Firing(2));
  Send(0);
  table_.Take(At(5), Muted(Firing(2)));
  std::vector<Alert> sent = Send(5);
  ASSERT_THAT(sent, SizeIs(1)) << "no hold: a person has seen it";
  EXPECT_EQ(sent[0].ends, At(5));
  EXPECT_TRUE(sent[0].shown.incident.muted);
  table_.Take(At(20), Firing(2));
  sent = Send(20);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].starts, At(0)) << "since when it fires";
  EXPECT_EQ(sent[0].ends, At(260));
  // And now its end is held as any other's.
  table_.Take(At(21), Resolved(Firing(2), 21));
  EXPECT_THAT(Send(21), IsEmpty());
}

TEST_F(AlertTableTest, WhatWasMutedBeforeItWasHeardIsNeverSaid) {
  table_.Take(At(0), Firing(1));
  table_.Take(At(0), Muted(Firing(1)));
  EXPECT_THAT(Send(0), IsEmpty());
  EXPECT_EQ(table_.size(), 0u);
  table_.Take(At(1), Muted(Firing(3)));
  EXPECT_THAT(Send(1), IsEmpty());
}

TEST_F(AlertTableTest, AMuteOfOneOfTwoLeavesTheAlertToTheOther) {
  table_.Take(At(0), Firing(1));
  table_.Take(At(0), Firing(2));
  Send(0);
  table_.Take(At(5), Muted(Firing(1)));
  const std::vector<Alert> sent = Send(5);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].shown.incident.id, 2u);
  EXPECT_EQ(sent[0].ends, At(245));
}

TEST_F(AlertTableTest, ResolvesWhatAnEarlierDaemonSaid) {
  table_.Take(At(100), Resolved(Firing(1), 90));
  const std::vector<Alert> sent = Send(100);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].ends, At(90));
}

TEST_F(AlertTableTest, FiresAgainAfterItWasOver) {
  table_.Take(At(0), Firing(1));
  Send(0);
  table_.Take(At(50), Resolved(Firing(1), 50));
  Send(50);
  table_.Take(At(80), Firing(1, Severity::kCritical, 80));
  const std::vector<Alert> sent = Send(80);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].starts, At(80));
  EXPECT_EQ(sent[0].ends, At(320));
}

TEST_F(AlertTableTest, RefusesBeyondItsLimit) {
  Notice notice = Firing(1);
  for (int i = 0; i < 10000; ++i) {
    notice.run.run_id = "run-" + std::to_string(i);
    ASSERT_TRUE(table_.Take(At(0), notice));
  }
  notice.run.run_id = "one too many";
  EXPECT_FALSE(table_.Take(At(0), notice));
  EXPECT_THAT(table_.Due(At(0), 64), SizeIs(64));
}

}  // namespace
}  // namespace nanwatch
