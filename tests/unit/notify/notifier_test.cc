// The notifier against real HTTP servers, driven by hand.

#include "notify/notifier.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/net/http_stub.h"
#include "tests/unit/notify/notice_fixture.h"

namespace nanwatch {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kNobody[] = "http://127.0.0.1:1";

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest() { options_.settle = Duration(0); }
  void Make() {
    notifier_ =
        std::make_unique<Notifier>(options_, clock_, NewCurlHttpClient());
  }
  std::optional<Time> Run(int64_t seconds) {
    return notifier_->RunOnce(At(seconds));
  }
  NotifyStats::Counts Counts(Receiver receiver) const {
    return notifier_->stats().receiver[static_cast<int>(receiver)];
  }

  HttpStub stub_;
  NotifyOptions options_;
  ManualClock clock_{At(0)};
  std::unique_ptr<Notifier> notifier_;
};

class AlertmanagerNotifierTest : public NotifierTest {
 protected:
  void SetUp() override {
    options_.alertmanager.urls = {stub_.url()};
    Make();
  }
  json Alerts(size_t request) {
    return json::parse(stub_.seen().at(request).body);
  }
};

TEST_F(AlertmanagerNotifierTest, FiresResendsAndResolves) {
  notifier_->Offer(Firing(1));
  EXPECT_EQ(Run(0), At(60));
  ASSERT_THAT(stub_.seen(), SizeIs(1));
  EXPECT_EQ(stub_.seen()[0].path, "/api/v2/alerts");
  EXPECT_EQ(Alerts(0)[0]["endsAt"], "2023-11-14T22:17:20.000000Z");
  Run(30);
  EXPECT_THAT(stub_.seen(), SizeIs(1));
  Run(60);
  EXPECT_THAT(stub_.seen(), SizeIs(2));
  notifier_->Offer(Resolved(Firing(1), 70));
  Run(70);
  ASSERT_THAT(stub_.seen(), SizeIs(3));
  EXPECT_EQ(Alerts(2)[0]["endsAt"], "2023-11-14T22:14:30.000000Z");
  EXPECT_EQ(Counts(Receiver::kAlertmanager).sends, 3u);
  EXPECT_EQ(Counts(Receiver::kAlertmanager).failures, 0u);
}

TEST_F(AlertmanagerNotifierTest, RetriesUntilItIsAccepted) {
  stub_.AnswerNext(503);
  notifier_->Offer(Firing(1));
  const std::optional<Time> again = Run(0);
  ASSERT_TRUE(again.has_value());
  EXPECT_GE(*again, At(0) + std::chrono::milliseconds(500));
  EXPECT_LE(*again, At(1));
  EXPECT_EQ(Counts(Receiver::kAlertmanager).queued, 1u);
  notifier_->RunOnce(*again);
  EXPECT_THAT(stub_.seen(), SizeIs(2));
  EXPECT_EQ(Counts(Receiver::kAlertmanager).failures, 1u);
  EXPECT_EQ(Counts(Receiver::kAlertmanager).queued, 0u);
}

TEST_F(AlertmanagerNotifierTest, WaitsAsLongAsItIsAskedTo) {
  stub_.AnswerNext(429, "Retry-After: 20\r\n");
  notifier_->Offer(Firing(1));
  EXPECT_EQ(Run(0), At(20));
  Run(19);
  EXPECT_THAT(stub_.seen(), SizeIs(1));
  Run(20);
  EXPECT_THAT(stub_.seen(), SizeIs(2));
}

TEST_F(AlertmanagerNotifierTest, WhatIsRejectedIsNotRetriedButResent) {
  stub_.AnswerNext(400);
  notifier_->Offer(Firing(1));
  EXPECT_EQ(Run(0), At(60));
  EXPECT_EQ(Counts(Receiver::kAlertmanager).dropped, 1u);
}

TEST_F(AlertmanagerNotifierTest, ManyAlertsGoInBatches) {
  for (int i = 0; i < 100; ++i) {
    Notice notice = Firing(1);
    notice.run.run_id = "run-" + std::to_string(i);
    notifier_->Offer(notice);
  }
  Run(0);
  Run(0);
  ASSERT_THAT(stub_.seen(), SizeIs(2));
  EXPECT_THAT(Alerts(0), SizeIs(64));
  EXPECT_THAT(Alerts(1), SizeIs(36));
}

TEST_F(AlertmanagerNotifierTest, WhatWasSaidBeforeARestartIsSaidAgain) {
  notifier_->Adopt(Firing(1));
  Run(0);
  EXPECT_THAT(stub_.seen(), SizeIs(1));
}

TEST_F(NotifierTest, OnePeerOfTwoIsEnough) {
  options_.alertmanager.urls = {kNobody, stub_.url()};
  Make();
  notifier_->Offer(Firing(1));
  EXPECT_EQ(Run(0), At(60));
  EXPECT_THAT(stub_.seen(), SizeIs(1));
  EXPECT_EQ(Counts(Receiver::kAlertmanager).sends, 2u);
  EXPECT_EQ(Counts(Receiver::kAlertmanager).failures, 1u);
}

TEST_F(NotifierTest, EveryPeerIsTold) {
  HttpStub other;
  options_.alertmanager.urls = {stub_.url(), other.url()};
  Make();
  notifier_->Offer(Firing(1));
  Run(0);
  EXPECT_THAT(stub_.seen(), SizeIs(1));
  EXPECT_THAT(other.seen(), SizeIs(1));
}

class WebhookNotifierTest : public NotifierTest {
 protected:
  void SetUp() override {
    options_.webhook.urls = {stub_.url() + "/hook"};
    options_.webhook.body = R"({"text":"{{status}} {{incident}}"})";
    Make();
  }
};

TEST_F(WebhookNotifierTest, TellsOfFiringAndResolving) {
  notifier_->Offer(Firing(1));
  Run(0);
  notifier_->Offer(Resolved(Firing(1), 9));
  Run(9);
  ASSERT_THAT(stub_.seen(), SizeIs(2));
  EXPECT_EQ(stub_.seen()[0].body, R"({"text":"firing 0000000000000001"})");
  EXPECT_EQ(stub_.seen()[1].body, R"({"text":"resolved 0000000000000001"})");
  EXPECT_EQ(Run(1000), std::nullopt);
  EXPECT_THAT(stub_.seen(), SizeIs(2));
}

TEST_F(WebhookNotifierTest, RetriesWhatMayWorkAndGivesUpWhatCannot) {
  stub_.AnswerNext(500);
  stub_.AnswerNext(404);
  notifier_->Offer(Firing(1));
  const std::optional<Time> again = Run(0);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(notifier_->RunOnce(*again), std::nullopt);
  EXPECT_THAT(stub_.seen(), SizeIs(2));
  EXPECT_EQ(Counts(Receiver::kWebhook).failures, 2u);
  EXPECT_EQ(Counts(Receiver::kWebhook).dropped, 1u);
  EXPECT_EQ(Counts(Receiver::kWebhook).queued, 0u);
}

TEST_F(WebhookNotifierTest, ARestartDoesNotRepeatWhatWasSaid) {
  notifier_->Adopt(Firing(1));
  Run(0);
  EXPECT_THAT(stub_.seen(), IsEmpty());
}

TEST_F(WebhookNotifierTest, InfoNeverPages) {
  notifier_->Offer(Firing(1, Severity::kInfo));
  Run(0);
  EXPECT_THAT(stub_.seen(), IsEmpty());
}

TEST_F(NotifierTest, ABodyThatIsNoGoodIsReplacedByTheBuiltInOne) {
  options_.webhook.urls = {stub_.url()};
  options_.webhook.body = "{{nonsense}}";
  Make();
  notifier_->Offer(Firing(1));
  Run(0);
  ASSERT_THAT(stub_.seen(), SizeIs(1));
  EXPECT_EQ(json::parse(stub_.seen()[0].body)["run_id"], "job-7");
}

TEST_F(NotifierTest, WithoutReceiversNothingIsKept) {
  Make();
  notifier_->Offer(Firing(1));
  EXPECT_EQ(Run(0), std::nullopt);
}

TEST_F(NotifierTest, TheThreadSendsAndStopSaysTheLastWords) {
  options_.webhook.urls = {stub_.url()};
  options_.settle = std::chrono::hours(1);
  notifier_ = Notifier::Start(options_, SystemClock());
  notifier_->Offer(Firing(1));
  notifier_->Stop();
  EXPECT_THAT(stub_.seen(), SizeIs(1)) << "though it had not settled";
  EXPECT_EQ(Counts(Receiver::kWebhook).queued, 0u);
}

TEST_F(NotifierTest, StopDoesNotWaitForAServerThatHangs) {
  options_.webhook.urls = {stub_.url()};
  options_.timeout = std::chrono::hours(1);
  stub_.AnswerNext(0);
  notifier_ = Notifier::Start(options_, SystemClock());
  notifier_->Offer(Firing(1));
  while (stub_.seen().empty()) std::this_thread::yield();
  notifier_->Stop();
  EXPECT_GE(Counts(Receiver::kWebhook).failures, 1u);
}

TEST_F(NotifierTest, ReportsItself) {
  options_.webhook.urls = {stub_.url()};
  Make();
  notifier_->Offer(Firing(1));
  Run(0);
  std::vector<SelfSample> samples;
  notifier_->AppendSamples(&samples);
  ASSERT_THAT(samples, SizeIs(8));
  double sends = 0;
  for (const SelfSample& sample : samples) {
    const bool mine = sample.name == "nanwatch_notify_sends_total" &&
                      sample.labels[0].second == "webhook";
    if (mine) sends = sample.value;
  }
  EXPECT_EQ(sends, 1);
}

}  // namespace
}  // namespace nanwatch
