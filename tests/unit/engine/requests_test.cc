#include <gmock/gmock.h>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Row> Falling(int64_t from, int steps, double scale) {
  std::vector<Row> rows;
  for (int i = 0; i < steps; ++i) {
    rows.push_back(
        {.step = from + i, .scale = scale, .overflow = true, .skipped = true});
    scale /= 2;
  }
  return rows;
}

TEST(RequestsTest, AsksTheOriginAndAHealthyPeerOnce) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 3);
  driver.Open("job", 1, 3);
  driver.Open("job", 2, 3);
  driver.Steps(r0, {{.step = 1, .scale = 4, .overflow = false}});
  driver.Steps(r0, Falling(2, 4, 2));
  ASSERT_THAT(driver.effects().requests, SizeIs(2));
  const Request& first = driver.effects().requests[0];
  EXPECT_EQ(first.session, r0);
  EXPECT_NE(first.id, 0u);
  EXPECT_EQ(driver.effects().requests[1].id, first.id);
  EXPECT_GT(first.expires_at_step, 1);
  // One outstanding a run.
  driver.Steps(r0, Falling(6, 20, 0.1));
  EXPECT_THAT(driver.effects().requests, SizeIs(2));
}

TEST(RequestsTest, StopIsToldToAll) {
  Driver driver;
  driver.Open("job", 0, 2);
  driver.Open("job", 1, 2);
  Annotation stop;
  stop.kind = Annotation::Kind::kStopRequest;
  stop.reason = "wrong data";
  stop.by = "ann";
  driver.Say({"job", 0}, stop);
  ASSERT_THAT(driver.effects().requests, SizeIs(2));
  EXPECT_EQ(driver.effects().requests[0].kind, Request::Kind::kStop);
  EXPECT_EQ(driver.effects().requests[0].reason, "wrong data (ann)");
  EXPECT_EQ(driver.Run("job")->stop_requested, "wrong data (ann)");
}

TEST(RequestsTest, StopOnIsOffUnlessAskedFor) {
  for (const bool on : {false, true}) {
    EngineOptions options;
    if (on) options.stop_on = Severity::kCritical;
    Driver driver(options);
    const SessionId s = driver.Open("job");
    driver.Steps(s, {{.step = 1, .scale = 4, .overflow = false}});
    driver.Steps(s, Falling(2, 30, 2));
    driver.Wait(std::chrono::seconds(120));
    ASSERT_EQ(driver.Run("job")->severity, Severity::kCritical);
    int stops = 0;
    for (const Request& r : driver.effects().requests) {
      stops += r.kind == Request::Kind::kStop;
    }
    EXPECT_EQ(stops, on ? 1 : 0);
  }
}

TEST(RequestsTest, HealthyRunIsAskedNothing) {
  Driver driver;
  const SessionId s = driver.Open("job");
  for (int64_t step = 0; step < 100; ++step) {
    driver.Steps(s, {{.step = step,
                      .scale = 1024,
                      .loss = 2.0,
                      .overflow = false,
                      .skipped = false}});
  }
  EXPECT_THAT(driver.effects().requests, IsEmpty());
  EXPECT_THAT(driver.history(), Not(IsEmpty()));
}

Annotation StopRequest() {
  Annotation stop;
  stop.kind = Annotation::Kind::kStopRequest;
  stop.reason = "wrong data";
  return stop;
}

TEST(RequestsTest, WhoComesLaterIsToldToStopToo) {
  Driver driver;
  driver.Open("job", 0, 2);
  driver.Say({"job", 0}, StopRequest());
  ASSERT_THAT(driver.effects().requests, SizeIs(1));
  const SessionId late = driver.Open("job", 1, 2);
  ASSERT_THAT(driver.effects().requests, SizeIs(2));
  const Request& told = driver.effects().requests[1];
  EXPECT_EQ(told.session, late);
  EXPECT_EQ(told.kind, Request::Kind::kStop);
  EXPECT_EQ(told.reason, "wrong data");
}

int Stops(const Driver& driver, SessionId session) {
  int stops = 0;
  for (const Request& r : driver.effects().requests) {
    stops += r.kind == Request::Kind::kStop && r.session == session;
  }
  return stops;
}

TEST(RequestsTest, StopOnReachesWhoComesLater) {
  Driver driver(EngineOptions{.stop_on = Severity::kCritical});
  const SessionId s = driver.Open("job", 0, 2);
  driver.Steps(s, {{.step = 1, .scale = 4, .overflow = false}});
  driver.Steps(s, Falling(2, 30, 2));
  ASSERT_EQ(Stops(driver, s), 1);
  const auto reason = driver.Run("job")->stop_requested;
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, ::testing::HasSubstr("engine.stop_on"));
  const SessionId late = driver.Open("job", 1, 2);
  ASSERT_EQ(Stops(driver, late), 1);
  EXPECT_EQ(driver.effects().requests.back().reason, *reason);
  // Who was asked is not asked again.
  driver.Steps(s, Falling(32, 30, 1e-9));
  EXPECT_EQ(Stops(driver, s), 1);
}

TEST(RequestsTest, WhoGoesOnAfterItsStreamBrokeHearsItAgain) {
  Driver driver;
  const SessionId s = driver.Open("job");
  EXPECT_FALSE(driver.engine().StopAsked(s));
  driver.Say({"job", 0}, StopRequest());
  const auto again = driver.engine().StopAsked(s);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, driver.effects().requests.back().id);
  EXPECT_EQ(again->session, s);
  EXPECT_EQ(again->reason, "wrong data");
  EXPECT_FALSE(driver.engine().StopAsked(s + 1));
}

TEST(RequestsTest, StopOnThatIsSetWhileItFiresAsksAtOnce) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1, .scale = 4, .overflow = false}});
  driver.Steps(s, Falling(2, 30, 2));
  ASSERT_EQ(Stops(driver, s), 0);
  driver.Say({}, RulesLoaded{{}, {.stop_on = Severity::kCritical}});
  EXPECT_EQ(Stops(driver, s), 1);
}

TEST(RequestsTest, AClosedRunIsNotAskedToStop) {
  Driver driver;
  driver.Open("job");
  driver.Say({"job", 0}, RunClosed{"done"});
  driver.Say({"job", 0}, StopRequest());
  EXPECT_THAT(driver.effects().requests, IsEmpty());
  EXPECT_FALSE(driver.Run("job")->stop_requested);
}

}  // namespace
}  // namespace nanwatch
