// Ranks open, are lost, close; runs end and leave.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "detect/all_rules.h"
#include "model/limits.h"
#include "tests/golden/words.h"
#include "tests/unit/engine/driver.h"
#include "tests/unit/engine/dump.h"

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LifeTest, AllRanksClosedEndsTheRun) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Close(r0);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kOpen);
  driver.Close(r1);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kClosed);
  EXPECT_EQ(driver.Run("job")->end_reason, "all ranks closed");
  EXPECT_THAT(driver.effects().notices, IsEmpty());
}

// A client looks at the ops of every fourth step.
TEST(LifeTest, OverflowsAtWhichNoOpWasLookedAtSayNothingOfOne) {
  const auto causes = [](bool between) {
    Driver driver;
    const SessionId s = driver.Open("job");
    driver.Name(s, {{.name = "softmax", .order = 1}});
    double scale = 65536;
    for (int64_t step = 0; step < 20; ++step) {
      driver.Steps(s, {{.step = step, .scale = scale, .overflow = false}});
    }
    for (int64_t step = 20; step < 60; ++step) {
      const bool looked = step % 4 == 0;
      if (looked) driver.Ops(s, {{.step = step, .op = 0, .inf = 4}});
      const bool overflow = looked || between;
      driver.Steps(s, {{.step = step, .scale = scale, .overflow = overflow}});
      if (overflow) scale /= 2;
    }
    return driver.Run("job")->diagnosis.causes;
  };
  const std::vector<CauseVerdict> always = causes(true);
  ASSERT_FALSE(always.empty());
  EXPECT_EQ(always[0].cause, Cause::kScaleIndependentOp);
  EXPECT_EQ(always[0].grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(always[0].origin.op, "softmax");
  for (const CauseVerdict& cause : causes(false)) {
    const bool of_op = cause.cause == Cause::kScaleIndependentOp;
    EXPECT_FALSE(of_op && cause.grade == EvidenceGrade::kEstablished)
        << "it was clean between";
  }
}

TEST(LifeTest, WhatIsSaidAtTheEndIsAsOfTheLastRecord) {
  Driver driver;
  const SessionId s = driver.Open("job");
  // Neither a diagnosis nor a renewal of the sentences is due at the last one.
  constexpr int64_t kUpdates = 4001;
  for (int64_t step = 0; step < kUpdates; ++step) {
    driver.Sleep(std::chrono::milliseconds(1));
    driver.Steps(s, {{.step = step, .overflow = true, .skipped = true}});
  }
  driver.Close(s);
  const auto run = driver.Run("job");
  ExpectWords(run->diagnosis.headline);
  bool streak = false;
  for (const Incident& incident : run->incidents) {
    for (const Finding& finding : incident.findings) {
      if (finding.rule != RuleId::kOverflowStreak) continue;
      streak = true;
      ExpectWords(finding.sentence);
    }
  }
  EXPECT_TRUE(streak);
}

// No tick comes between.
TEST(LifeTest, WhatWasDroppedInTheLastSecondIsFound) {
  for (const bool closes_itself : {true, false}) {
    Driver driver;
    const SessionId s = driver.Open("job");
    driver.Steps(s, {{.step = 1, .loss = 2}});
    driver.Send({.session = s, .sequence = 2, .body = Dropped{.steps = 10}});
    if (closes_itself) {
      driver.Send({.session = s, .sequence = 3, .body = CloseMessage{}});
    } else {
      driver.Say({"job", 0}, RunClosed{"superseded"});
    }
    const auto run = driver.Run("job");
    EXPECT_EQ(run->state, LifeState::kClosed);
    ExpectWords(run->diagnosis.headline);
    ASSERT_EQ(run->incidents.size(), 1u);
    EXPECT_EQ(run->incidents[0].rule, RuleId::kTelemetryGap);
    ASSERT_EQ(driver.effects().notices.size(), 2u);
    EXPECT_TRUE(driver.effects().notices[1].resolved);
  }
}

TEST(LifeTest, WhatARankDroppedStaysMissingWhenItCloses) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Send({.session = r0, .sequence = 1, .body = Dropped{.steps = 10}});
  driver.Send({.session = r0, .sequence = 2, .body = CloseMessage{}});
  driver.Steps(r1, {{.step = 1, .loss = 2}});
  driver.Wait(seconds(1));
  ExpectWords(driver.Run("job")->diagnosis.headline);
  // What is said grows with what is lost.
  driver.Send({.session = r1, .sequence = 2, .body = Dropped{.steps = 5}});
  driver.Wait(seconds(3));
  ExpectWords(driver.Run("job")->diagnosis.headline);
}

TEST(LifeTest, DroppedRecordsAreCountedToTheLargestNumberAndNotAnew) {
  Driver driver;
  const SessionId s = driver.Open("job");
  for (Sequence sequence = 1; sequence <= 2; ++sequence) {
    driver.Send({.session = s,
                 .sequence = sequence,
                 .body = Dropped{.steps = UINT64_MAX, .ops = UINT64_MAX - 1}});
  }
  driver.Wait(seconds(2));
  const auto run = driver.Run("job");
  EXPECT_EQ(run->totals.dropped_steps, UINT64_MAX);
  EXPECT_EQ(run->totals.dropped_ops, UINT64_MAX);
  EXPECT_THAT(Firing(*run), ElementsAre("telemetry_gap"));
}

// The diagnosis is made anew every so many updates: the last ones before the
// records pause are in it too, a little later.
TEST(LifeTest, TheHeadlineAgreesWithTheNumbersWhenRecordsPause) {
  Driver driver;
  const SessionId s = driver.Open("job");
  for (int64_t step = 0; step < 1029; ++step) {
    driver.Sleep(std::chrono::milliseconds(1));
    driver.Steps(s, {{.step = step, .overflow = true, .skipped = true}});
  }
  ExpectWords(driver.Run("job")->diagnosis.headline);
  driver.Wait(seconds(3));
  ExpectWords(driver.Run("job")->diagnosis.headline);
  EXPECT_EQ(driver.Run("job")->totals.overflows, 1029u);
}

// While records come it is at most 64 updates old, of fast ones a second.
TEST(LifeTest, TheHeadlineIsSecondsOldAtMost) {
  for (const int pace : {1000, 4, 1}) {
    Driver driver;
    const SessionId s = driver.Open("job");
    for (int64_t step = 0; step < 3000; ++step) {
      driver.Sleep(std::chrono::milliseconds(pace));
      driver.Steps(s, {{.step = step, .overflow = true, .skipped = true}});
    }
    ExpectWords(driver.Run("job")->diagnosis.headline);
  }
}

TEST(LifeTest, ARunIsNotCalledHealthyWhileItsAlertIsHeld) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1, .loss = 2}});
  driver.Lose(s);
  driver.Wait(seconds(1));
  OpenSessionMessage again;
  again.session = s;
  again.run_id = "job";
  driver.Open(again);
  const auto held = driver.Run("job");
  EXPECT_EQ(held->severity, Severity::kWarning);
  EXPECT_EQ(held->diagnosis.condition, Condition::kHeld);
  ExpectWords(held->diagnosis.headline);
  EXPECT_FALSE(held->diagnosis.causes.empty());
  driver.Close(s);
  const auto closed = driver.Run("job");
  EXPECT_EQ(closed->diagnosis.condition, Condition::kHealed);
  ExpectWords(closed->diagnosis.headline);
}

TEST(LifeTest, AStreamThatBreaksBeforeAnyStepSaysSo) {
  Driver driver;
  driver.Lose(driver.Open("job"));
  ExpectWords(driver.Run("job")->incidents.at(0).findings.at(0).sentence);
}

TEST(LifeTest, CloseThatIsSentAgainIsAcked) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Close(s);
  const size_t events = driver.history().size();
  const Admitted again =
      driver.Send({.session = s, .sequence = 1, .body = CloseMessage{}});
  EXPECT_FALSE(again.refused);
  EXPECT_EQ(driver.history().size(), events);
}

TEST(LifeTest, EndedRunStaysFiveMinutesAndLeaves) {
  Driver driver;
  driver.Close(driver.Open("job"));
  driver.Wait(minutes(4));
  EXPECT_NE(driver.Run("job"), nullptr);
  driver.Wait(minutes(1));
  EXPECT_EQ(driver.Run("job"), nullptr);
  EXPECT_EQ(driver.engine().stats().runs, 0u);
  EXPECT_EQ(driver.engine().NextTimer(), std::nullopt);
  // Its number stays taken.
  driver.Open("job");
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
}

TEST(LifeTest, AllRanksLostIsOneWarning) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Steps(r0, {{.step = 7}});
  driver.Steps(r1, {{.step = 7}});
  driver.Lose(r0);
  EXPECT_EQ(driver.Run("job")->ranks_lost, 1u);
  driver.Lose(r1);
  driver.Wait(seconds(2));
  const auto run = driver.Run("job");
  EXPECT_EQ(run->state, LifeState::kLost);
  ASSERT_EQ(run->incidents.size(), 1u);
  EXPECT_EQ(run->incidents[0].severity, Severity::kWarning);
  EXPECT_EQ(run->incidents[0].state, AlertState::kFiring);
  ExpectWords(run->incidents[0].findings.at(0).sentence);
}

TEST(LifeTest, LostRunAsksToBeClosedAfterAQuarterOfAnHour) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Lose(s);
  driver.Wait(minutes(14));
  EXPECT_THAT(driver.effects().close, IsEmpty());
  driver.Wait(seconds(61));
  EXPECT_THAT(driver.effects().close, ElementsAre(RunKey{"job", 0}));
  driver.Say({"job", 0}, RunClosed{"lost"});
  const auto run = driver.Run("job");
  EXPECT_EQ(run->end_reason, "lost");
  EXPECT_EQ(run->severity, Severity::kNone);
  ASSERT_EQ(run->incidents.size(), 1u);
  EXPECT_EQ(run->incidents[0].state, AlertState::kResolved);
  EXPECT_EQ(run->incidents[0].resolved_reason, "lost");
  EXPECT_TRUE(driver.effects().notices.back().resolved);
}

TEST(LifeTest, TheOptionsAreAnEventAndHoldFromThereOn) {
  Driver driver;
  const SessionId lost = driver.Open("lost");
  driver.Lose(lost);
  driver.Wait(seconds(30));
  driver.Say({}, RulesLoaded{{},
                             {.lost_run_closes_after = minutes(2),
                              .ended_run_leaves_after = seconds(20)}});
  driver.Close(driver.Open("ended"));
  driver.Wait(seconds(19));
  EXPECT_NE(driver.Run("ended"), nullptr);
  EXPECT_THAT(driver.effects().close, IsEmpty());
  driver.Wait(seconds(1));
  EXPECT_EQ(driver.Run("ended"), nullptr);
  driver.Wait(seconds(72));
  EXPECT_THAT(driver.effects().close, ElementsAre(RunKey{"lost", 0}));
}

TEST(LifeTest, TheHoldOfAlertsIsAnEventToo) {
  Driver driver(EngineOptions{.alert = {.hold = minutes(3)}});
  const SessionId s = driver.Open("job");
  driver.Lose(s);
  driver.Wait(seconds(1));
  OpenSessionMessage again;
  again.session = s;
  again.run_id = "job";
  driver.Open(again);
  driver.Wait(seconds(170));
  EXPECT_EQ(driver.Run("job")->incidents.at(0).state, AlertState::kFiring);
  driver.Wait(seconds(11));
  EXPECT_EQ(driver.Run("job")->incidents.at(0).state, AlertState::kResolved);
}

TEST(LifeTest, AnEndedRunStaysWhileAFileIsRead) {
  Driver driver;
  driver.Close(driver.Open("job"));
  Engine reading;
  Effects effects;
  RulesLoaded rules{DefaultRules(), {}};
  rules.engine.ended_run_leaves_after = kNever;
  reading.Apply(kStart, {.body = rules}, &effects);
  for (const StampedEvent& e : driver.history()) {
    reading.Apply(e.now, e.event, &effects);
  }
  reading.Advance(driver.now() + hours(24 * 365), &effects);
  EXPECT_EQ(reading.stats().runs, 1u);
}

// An hour of silence behind an overflow at each of its last steps.
TEST(LifeTest, SecondsThatPassAtOnceEndAsEachOfThemWould) {
  Driver driver;
  const SessionId s = driver.Open("job");
  double scale = 65536;
  for (int64_t batch = 0; batch < 8; ++batch) {
    std::vector<Row> rows;
    for (int64_t step = 100 * batch; step < 100 * (batch + 1); ++step) {
      const bool overflow = step >= 650;
      rows.push_back({.step = step, .scale = scale, .overflow = overflow});
      if (overflow) scale = std::max(1.0, scale / 2);
    }
    driver.Steps(s, rows);
    driver.Sleep(seconds(100));
  }
  const auto verdict = [&driver](bool times_are_real) {
    Engine engine;
    Effects effects;
    RulesLoaded rules{DefaultRules(), {}};
    rules.engine.ended_run_leaves_after = kNever;
    rules.engine.times_are_real = times_are_real;
    engine.Apply(kStart, {.body = rules}, &effects);
    for (const StampedEvent& e : driver.history()) {
      engine.Apply(e.now, e.event, &effects);
    }
    engine.Advance(driver.now() + hours(1), &effects);
    return DumpVerdict(*engine.Publish(driver.now() + hours(1), 0, Snapshot())
                            ->Find("job", 0));
  };
  const std::string at_once = verdict(/*times_are_real=*/false);
  EXPECT_EQ(at_once, verdict(/*times_are_real=*/true));
  EXPECT_THAT(at_once, HasSubstr("cause silence"));
  EXPECT_THAT(at_once, HasSubstr("cause collapse_with_underflow"));
}

TEST(LifeTest, IdsOfRunsAreForgottenWhenThereAreTooMany) {
  Driver driver;
  driver.Close(driver.Open("oldest"));
  driver.Wait(minutes(10));
  driver.Open("held");
  for (size_t i = 0; i < limits::kRunIds; ++i) {
    driver.engine().KnowAttempt({"id-" + std::to_string(i), 3}, "");
  }
  EXPECT_EQ(driver.engine().stats().run_ids_forgotten, limits::kRunIds / 8);
  const auto attempt_of = [&](const std::string& id) {
    driver.Open(id);
    return driver.last_opened.run.attempt;
  };
  EXPECT_EQ(attempt_of("oldest"), 0);  // forgotten: begins anew
  EXPECT_EQ(attempt_of("held"), 1);    // rank 0 is there already
  EXPECT_EQ(attempt_of("id-" + std::to_string(limits::kRunIds - 1)), 4);
}

TEST(LifeTest, StalledIsForTheConnected) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  driver.Wait(minutes(29));
  EXPECT_THAT(Firing(*driver.Run("job")), IsEmpty());
  driver.Wait(minutes(2));
  EXPECT_THAT(Firing(*driver.Run("job")), ElementsAre("stalled"));
}

TEST(LifeTest, TheDaemonsAbsenceIsNobodysSilence) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  driver.Sleep(hours(8));
  driver.Say({}, DaemonStarted{"1", driver.alive_until()});
  driver.Wait(minutes(10));
  EXPECT_THAT(Firing(*driver.Run("job")), IsEmpty());
}

TEST(LifeTest, HistoryThatBeginsInTheMiddleSaysSinceWhen) {
  Driver driver;
  Event event;
  event.run = {"old", 2};
  event.rank = 3;
  event.session = 11;
  event.sequence = 90;
  event.body = StepBatch{Columns({{.step = 700}}, driver.now())};
  driver.Apply(event);
  const auto run = driver.Run("old");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->judged_since, 700);
  EXPECT_EQ(run->ranks_open, 1u);
  EXPECT_THAT(driver.engine().OpenSessions(), ElementsAre(11u));
}

TEST(LifeTest, OpenSessionsAreThoseNeitherLostNorClosed) {
  Driver driver;
  const SessionId r2 = driver.Open("job", 2, 3);
  const SessionId r0 = driver.Open("job", 0, 3);
  const SessionId r1 = driver.Open("job", 1, 3);
  driver.Lose(r0);
  EXPECT_THAT(driver.engine().OpenSessions(), ElementsAre(r2, r1));
  EXPECT_EQ(driver.engine().stats().sessions, 2u);
  EXPECT_THAT(driver.engine().Lose(r0, "again"), IsEmpty());
}

TEST(LifeTest, ARunThatStartsLateIsJudgedFromItsBeginning) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 100}, {.step = 101}});
  EXPECT_EQ(driver.Run("job")->judged_since, 0);
}

}  // namespace
}  // namespace nanwatch
