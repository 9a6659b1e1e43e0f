// The gate before a real notifier, which has nobody to tell and counts.

#include "app/notice_gate.h"

#include <gmock/gmock.h>

#include "tests/unit/net/http_stub.h"

namespace nanwatch {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Notice Firing(uint64_t id, Severity severity = Severity::kCritical) {
  Notice notice;
  notice.run = {"job", 0};
  notice.incident.id = id;
  notice.incident.state = AlertState::kFiring;
  notice.incident.severity = notice.incident.worst = severity;
  return notice;
}

Notice Over(Notice notice) {
  notice.resolved = true;
  notice.incident.state = AlertState::kResolved;
  return notice;
}

class NoticeGateTest : public ::testing::Test {
 protected:
  NoticeGateTest() {
    options_.webhook.urls = {stub_.url()};
    options_.settle = Duration(0);
    notifier_ =
        std::make_unique<Notifier>(options_, clock_, NewCurlHttpClient());
  }
  // How often people were called by now.
  size_t Calls() {
    for (int i = 0; i < 4; ++i) notifier_->RunOnce(clock_.Now());
    return stub_.seen().size();
  }

  HttpStub stub_;
  NotifyOptions options_;
  ManualClock clock_{Time(std::chrono::seconds(1000))};
  std::unique_ptr<Notifier> notifier_;
};

TEST_F(NoticeGateTest, WithoutAnUpstreamAllPasses) {
  NoticeGate gate(*notifier_, true);
  gate.Offer(Firing(1), false);
  EXPECT_EQ(Calls(), 1u);
  EXPECT_THAT(gate.TakeTold(), IsEmpty());
}

TEST_F(NoticeGateTest, WhatTheUpstreamTellsIsNotSaidHere) {
  NoticeGate gate(*notifier_, false);
  gate.Offer(Firing(1), false);
  gate.Adopt(Firing(2));
  gate.Offer(Over(Firing(2)), false);
  EXPECT_EQ(Calls(), 0u);
  // Alone, it says what still fires, and later what that has come to.
  gate.Open(true);
  EXPECT_EQ(Calls(), 1u);
  const auto told = gate.TakeTold();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].incident, 1u);
  gate.Offer(Over(Firing(1)), false);
  EXPECT_EQ(Calls(), 2u);
  EXPECT_THAT(gate.TakeTold(), IsEmpty());
}

TEST_F(NoticeGateTest, WhatIsHandedOverIsTheUpstreams) {
  NoticeGate gate(*notifier_, false);
  gate.Open(true);
  gate.Offer(Firing(1), false);
  EXPECT_EQ(Calls(), 1u);
  gate.Open(false);
  gate.Offer(Over(Firing(1)), false);
  EXPECT_EQ(Calls(), 1u);
}

// On the other side: a relay told people.
TEST_F(NoticeGateTest, WhatARelayToldIsNotSaidAgain) {
  NoticeGate gate(*notifier_, true);
  gate.Offer(Firing(1), true);
  EXPECT_EQ(Calls(), 0u);
  gate.Offer(Over(Firing(1)), false);
  EXPECT_EQ(Calls(), 1u);
}

}  // namespace
}  // namespace nanwatch
