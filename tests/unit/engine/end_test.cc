// No record follows: what is said then.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "detect/all_rules.h"
#include "engine/run_state.h"
#include "tests/golden/words.h"
#include "tests/unit/engine/driver.h"
#include "tests/unit/engine/dump.h"

namespace nanwatch {
namespace {

using How = RecordsEnded::How;

// 1,470 steps at 2.2, and 30 at 5.2.
void GoHigh(Driver* driver, SessionId session, double high = 5.2) {
  for (int64_t step = 1; step <= 1500; ++step) {
    driver->Wait(std::chrono::seconds(1));
    const double loss = step <= 1470 ? 2.2 : high;
    driver->Steps(
        session,
        {{.step = step, .loss = loss + 0.01 * (step % 7), .overflow = false}});
  }
}

RecordsEnded GaveUpOver(std::optional<StepField> over, How how = How::kGaveUp) {
  return {.how = how, .gave_up = GaveUp{"loss scale already at minimum", over}};
}

TEST(EndTest, AnOrderlyCloseIsTheEndOfTheRecords) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s);
  EXPECT_EQ(WorstEver(*driver.Run("job")), Severity::kWarning);
  const Admitted closed = driver.Close(s);
  ASSERT_EQ(closed.events.size(), 4u);
  EXPECT_EQ(std::get<RecordsEnded>(closed.events[0].body).how, How::kClosed);
  EXPECT_EQ(closed.events[0].rank, 0);
  EXPECT_EQ(std::get<RecordsEnded>(closed.events[2].body).how, How::kClosed);
  EXPECT_EQ(closed.events[2].rank, -1);
  const auto run = driver.Run("job");
  EXPECT_EQ(WorstEver(*run), Severity::kCritical);
  EXPECT_EQ(run->records_ended, RecordsEnded{.how = How::kClosed});
  EXPECT_EQ(JudgedToEnd(*run), true);
}

ProgramEnd Ended(ProgramEnd::Kind kind, const char* type) {
  return {kind, type, "x"};
}

TEST(EndTest, AnErrorIsTheEndOfTheRecords) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s);
  const Admitted closed =
      driver.Close(s, Ended(ProgramEnd::Kind::kException, "ValueError"));
  ASSERT_EQ(closed.events.size(), 4u);
  const auto& told = std::get<RecordsEnded>(closed.events[0].body);
  EXPECT_EQ(told.how, How::kBroke);
  EXPECT_EQ(told.end->type, "ValueError");
  EXPECT_EQ(std::get<RecordsEnded>(closed.events[2].body).how, How::kBroke);
  const auto run = driver.Run("job");
  EXPECT_EQ(WorstEver(*run), Severity::kCritical) << "judged to its end";
  EXPECT_EQ(run->end_reason, EndReason(*run->rank_end, 1));
  EXPECT_EQ(JudgedToEnd(*run), true);
}

TEST(EndTest, TheRankThatSaysMostIsTheRunsEnd) {
  Driver driver;
  const SessionId a = driver.Open("job", 0, 2);
  const SessionId b = driver.Open("job", 1, 2);
  driver.Steps(a, {{.step = 7, .loss = 1.0}});
  driver.Close(a, Ended(ProgramEnd::Kind::kSignal, "SIGTERM"));
  EXPECT_EQ(driver.Run("job")->rank_end->end.type, "SIGTERM");
  driver.Close(b, Ended(ProgramEnd::Kind::kException, "KeyError"));
  const auto run = driver.Run("job");
  EXPECT_EQ(run->rank_end->end.type, "KeyError");
  EXPECT_EQ(run->rank_end->rank, 1);
  EXPECT_EQ(run->rank_end->step, -1);
  EXPECT_EQ(run->state, LifeState::kClosed);
}

TEST(EndTest, ARankThatOpensAgainIsNotEnded) {
  Driver driver;
  const SessionId s = driver.Open("job", 0, 2);
  driver.Open("job", 1, 2);
  driver.Close(s, Ended(ProgramEnd::Kind::kException, "KeyError"));
  EXPECT_TRUE(driver.Run("job")->rank_end);
  driver.Open("job", 0, 2);
  EXPECT_EQ(driver.Run("job")->key.attempt, 1);
  EXPECT_FALSE(driver.Run("job")->rank_end);
}

TEST(EndTest, ALostRunIsNotJudgedToItsEnd) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s);
  driver.Lose(s);
  EXPECT_EQ(JudgedToEnd(*driver.Run("job")), false);
  driver.Say({"job", 0}, RunClosed{"lost"});
  EXPECT_EQ(WorstEver(*driver.Run("job")), Severity::kWarning);
  EXPECT_EQ(JudgedToEnd(*driver.Run("job")), false);
}

TEST(EndTest, ARankThatLeavesEarlierIsJudgedToItsEnd) {
  Driver driver;
  const SessionId high = driver.Open("job", 0, 2);
  const SessionId other = driver.Open("job", 1, 2);
  driver.Steps(other, {{.step = 1}});
  GoHigh(&driver, high);
  driver.Close(high);
  EXPECT_EQ(WorstEver(*driver.Run("job")), Severity::kCritical);
  EXPECT_FALSE(driver.Run("job")->records_ended);
  driver.Close(other);
  EXPECT_TRUE(driver.Run("job")->records_ended);
}

TEST(EndTest, WhoComesAfterTheEndTakesItBack) {
  Driver driver;
  driver.Close(driver.Open("job", 0, 2));
  EXPECT_TRUE(driver.Run("job")->records_ended);
  driver.Open("job", 1, 2);
  EXPECT_FALSE(driver.Run("job")->records_ended);
}

TEST(EndTest, ARunThatBeginsAgainIsJudgedAsItStood) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s);
  driver.Steps(s, {{.step = 1400, .loss = 2.2}});
  const auto before = driver.Run("job", 0);
  EXPECT_EQ(before->records_ended, RecordsEnded{.how = How::kBeganAgain});
  EXPECT_EQ(WorstEver(*before), Severity::kCritical);
}

TEST(EndTest, WhatAnAttemptRepeatsIsOneTrouble) {
  Driver driver;
  const SessionId s = driver.Open("job");
  const auto fail = [&] {
    for (int64_t step = 1; step <= 110; ++step) {
      driver.Wait(std::chrono::seconds(1));
      driver.Steps(s, {{.step = step, .loss = step > 100 ? NAN : 2.2}});
    }
  };
  for (int attempt = 0; attempt < 3; ++attempt) fail();
  driver.Close(s);
  std::vector<std::shared_ptr<const RunView>> attempts;
  for (int attempt = 0; attempt < 3; ++attempt) {
    attempts.push_back(driver.Run("job", attempt));
    EXPECT_FALSE(attempts.back()->incidents.empty());
  }
  const auto once = EachTroubleOnce(attempts);
  EXPECT_TRUE(once[0]->incidents.empty());
  EXPECT_TRUE(once[1]->incidents.empty());
  ASSERT_EQ(once[2]->incidents.size(), 1u);
  EXPECT_EQ(once[2]->incidents[0].reopened, 2);
  EXPECT_EQ(once[2]->incidents[0].opened_step, 101);
}

// ----------------------------------------------- the program's word

const Incident* FirstWorstFiring(const RunView& run) {
  const Incident* worst = nullptr;
  for (const Incident& incident : run.incidents) {
    if (incident.state != AlertState::kFiring ||
        incident.severity < Severity::kWarning) {
      continue;
    }
    if (worst == nullptr || incident.severity > worst->severity) {
      worst = &incident;
    }
  }
  return worst;
}

TEST(GaveUpTest, WhatItGaveUpOverIsAsBadAsTheVerdict) {
  Driver driver;
  const SessionId s = driver.Open("job");
  for (int64_t step = 1; step <= 1004; ++step) {
    driver.Wait(std::chrono::seconds(1));
    const bool bad = step > 1000;
    driver.Steps(s, {{.step = step,
                      .loss = (bad ? 5.2 : 2.2) + 0.01 * (step % 7),
                      .grad_norm = bad ? 40 : 1 + 0.01 * (step % 5),
                      .overflow = false}});
  }
  const auto before = driver.Run("job");
  const Incident* const worst = FirstWorstFiring(*before);
  ASSERT_NE(worst, nullptr);
  ASSERT_EQ(worst->severity, Severity::kWarning);
  // Went on: critical it was, and not at the end.
  driver.Say({"job", 0}, GaveUpOver(std::nullopt, How::kUnknown));
  const size_t told = driver.effects().notices.size();
  driver.Say({"job", 0}, GaveUpOver(std::nullopt));
  ASSERT_GT(driver.effects().notices.size(), told);
  EXPECT_EQ(driver.effects().notices.back().incident.severity,
            Severity::kCritical);
  const auto after = driver.Run("job");
  EXPECT_EQ(after->severity, Severity::kCritical);
  ASSERT_EQ(after->incidents.size(), before->incidents.size());
  EXPECT_EQ(std::count_if(after->incidents.begin(), after->incidents.end(),
                          [](const Incident& incident) {
                            return incident.worst == Severity::kCritical;
                          }),
            1);
}

TEST(GaveUpTest, WhatIsCriticalAlreadyStaysTheOnlyOne) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s, NAN);
  const auto before = driver.Run("job");
  ASSERT_EQ(before->severity, Severity::kCritical);
  driver.Say({"job", 0}, GaveUpOver(StepField::kLoss));
  const auto after = driver.Run("job");
  ASSERT_EQ(after->incidents.size(), before->incidents.size());
  for (size_t i = 0; i < after->incidents.size(); ++i) {
    EXPECT_EQ(after->incidents[i].severity, before->incidents[i].severity);
  }
}

TEST(GaveUpTest, WhereNothingWasTroubleTheProgramsWordIs) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s, 2.2);
  ASSERT_EQ(driver.Run("job")->severity, Severity::kNone);
  driver.Say({"job", 0}, GaveUpOver(std::nullopt));
  const auto expect = [&] {
    const auto run = driver.Run("job");
    ASSERT_EQ(run->incidents.size(), 1u);
    EXPECT_EQ(run->incidents[0].severity, Severity::kCritical);
    EXPECT_EQ(run->incidents[0].family, Family::kScale);
    ExpectWords(run->incidents[0].summary);
    EXPECT_EQ(run->diagnosis.causes.at(0).cause, Cause::kScaleIndependentOp);
    ExpectWords(run->diagnosis.headline);
    EXPECT_EQ(WorstEver(*run), Severity::kCritical);
  };
  expect();
  driver.Wait(std::chrono::seconds(10));
  expect();
  driver.Say({"job", 0}, RunClosed{"all ranks closed"});
  expect();
}

TEST(GaveUpTest, AProgramThatWentOnWasInNoSuchTroubleAtTheEnd) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s, 2.2);
  driver.Say({"job", 0}, GaveUpOver(std::nullopt, How::kUnknown));
  const auto run = driver.Run("job");
  EXPECT_EQ(WorstEver(*run), Severity::kCritical);
  EXPECT_EQ(run->severity, Severity::kNone);
  EXPECT_TRUE(run->incidents.empty());
}

// The end is in a checkpoint, too.
TEST(EndTest, ACheckpointKnowsTheEnd) {
  Driver driver;
  const SessionId s = driver.Open("job");
  GoHigh(&driver, s);
  driver.Steps(s, {{.step = 1400, .loss = NAN}});
  driver.Say({"job", 1}, GaveUpOver(StepField::kLoss));
  const auto run = driver.Run("job", 1);
  Engine restarted;
  Effects effects;
  const auto checkpoint = driver.engine().Checkpoint({"job", 1});
  ASSERT_TRUE(checkpoint);
  restarted.Apply(driver.now(), *checkpoint, &effects);
  const auto again =
      restarted.Publish(driver.now(), 0, Snapshot())->Find("job", 1);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(DumpVerdict(*again), DumpVerdict(*run));
  EXPECT_EQ(again->records_ended, run->records_ended);
  ASSERT_EQ(again->incidents.size(), run->incidents.size());
  for (size_t i = 0; i < again->incidents.size(); ++i) {
    EXPECT_EQ(again->incidents[i].repeats, run->incidents[i].repeats);
  }
}

}  // namespace
}  // namespace nanwatch
