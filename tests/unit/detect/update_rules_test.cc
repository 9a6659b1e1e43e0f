// Rules 62 and 63: updates that are made wrong, or lost in rounding.

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "detect/update_fault.h"
#include "detect/update_lost.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// --- 62 update_fault ---------------------------------------------------------

Update Faulty(UpdateFault fault) { return {.loss = 2.0, .fault = fault}; }

TEST(UpdateFault, EachIsAWarningAfterItsHold) {
  for (int f = 1; f < kUpdateFaults; ++f) {
    const auto fault = static_cast<UpdateFault>(f);
    if (fault == UpdateFault::kHeldBack) continue;  // notes
    if (fault == UpdateFault::kNotReached) continue;
    if (fault == UpdateFault::kClippedScaled) continue;  // another rule's
    StepFeed<UpdateFaultRule> feed;
    const int hold = fault == UpdateFault::kAllZero ? 50 : 8;
    feed.Steps(Faulty(fault), hold - 1);
    EXPECT_EQ(feed.worst, Severity::kNone) << f;
    feed.Step(Faulty(fault));
    EXPECT_EQ(feed.now, Severity::kWarning) << f;
    EXPECT_EQ(feed.Described().opened_step, 1) << f;
    ExpectWords(feed.Described().sentence);
    feed.Step(Faulty(UpdateFault::kNone));
    EXPECT_EQ(NumberOf(feed.Described(), "updates"), hold) << "while it was so";
  }
}

TEST(UpdateFault, APartThatIsNotTrainedIsNamed) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kNotHeld, .of = "head"}, 8);
  EXPECT_EQ(feed.now, Severity::kWarning);
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, WhatNeverCameWasSoFromTheFirstRecordOn) {
  for (const UpdateFault fault :
       {UpdateFault::kNeverCalled, UpdateFault::kNotReached,
        UpdateFault::kCutOff}) {
    StepFeed<UpdateFaultRule> feed;
    feed.Steps(Faulty(UpdateFault::kNone), 100);
    feed.Steps(Faulty(fault), 8);
    EXPECT_EQ(feed.Described().opened_step, 1);
    EXPECT_EQ(NumberOf(feed.Described(), "updates"), 108);
  }
}

TEST(UpdateFault, OneOptimizerOfSeveralIsNamed) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kNoBackward, .of = "g"}, 8);
  EXPECT_EQ(feed.now, Severity::kWarning);
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, APartBeforeWhatIsTrainedIsANote) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kHeldBack, .of = "body"}, 500);
  EXPECT_EQ(feed.worst, Severity::kInfo);
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, APartThatNoBackwardPassReachesIsANote) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kNotReached, .of = "body"},
             500);
  EXPECT_EQ(feed.worst, Severity::kInfo);
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, OneThatRunsBeforeWhatIsTrainedIsMore) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kNotReached, .of = "body"},
             200);
  EXPECT_EQ(feed.now, Severity::kInfo);
  feed.Steps({.loss = 2.0, .fault = UpdateFault::kCutOff, .of = "body"}, 8);
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 1);
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, WhereGradientsAreClippedIsNoneOfIts) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps(Faulty(UpdateFault::kClippedScaled), 100);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(UpdateFault, NowAndThenIsNone) {
  StepFeed<UpdateFaultRule> feed;
  for (int i = 0; i < 50; ++i) {
    feed.Steps(Faulty(UpdateFault::kNoBackward), 5);
    feed.Steps(Faulty(UpdateFault::kNone), 1);
  }
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(UpdateFault, ARateOf0AtTheEndOfAScheduleIsANote) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps(Faulty(UpdateFault::kNone), 200);
  feed.Steps(Faulty(UpdateFault::kNoRate), 50);
  EXPECT_EQ(feed.now, Severity::kInfo);
  EXPECT_EQ(feed.Described().opened_step, 201);
  feed.Steps(Faulty(UpdateFault::kNoRate), 20);
  EXPECT_EQ(feed.now, Severity::kWarning) << "a quarter of all updates";
}

// No client says so: the rate stands in the record, finely printed before.
TEST(UpdateFault, ARateOf0InRecordsIsOneToo) {
  for (const bool fine : {true, false}) {
    StepFeed<UpdateFaultRule> feed;
    for (int i = 0; i < 40; ++i) {
      feed.Step({.loss = 2, .learning_rate = fine ? 4e-5 * (40 - i) : 1e-3});
    }
    feed.Steps({.loss = 2, .learning_rate = 0.0}, 32);
    EXPECT_EQ(feed.now, fine ? Severity::kWarning : Severity::kNone);
  }
}

// Steps of a tenth end below what is printed; a line of large steps ends at 0.
TEST(UpdateFault, ARateBelowWhatIsPrintedIsNot0) {
  const auto now = [](const std::function<double(int)>& rate, double parts) {
    StepFeed<UpdateFaultRule> feed;
    for (int i = 0; i < 40; ++i) {
      const double printed = std::round(rate(i) * parts) / parts;
      feed.Step({.loss = 2, .learning_rate = printed});
    }
    feed.Steps({.loss = 2, .learning_rate = 0.0}, 40);
    return feed.now;
  };
  const auto tenths = [](int i) { return 0.0123 * std::pow(10, -(i / 10)); };
  EXPECT_EQ(now(tenths, 1e5), Severity::kNone);
  EXPECT_EQ(now(tenths, 1e8), Severity::kWarning);
  const auto falls = [](int i) { return 0.01 * std::pow(0.83, i); };
  EXPECT_EQ(now(falls, 1e4), Severity::kNone);
  EXPECT_EQ(now(falls, 1e9), Severity::kWarning);
  const auto line = [](int i) { return 1e-3 * (40 - i) / 40; };
  EXPECT_EQ(now(line, 1e6), Severity::kWarning);
}

// As of a schedule of epochs that is stepped at each batch: it is told from the
// update on that its rate moves no weight, long before it is 0.
TEST(UpdateFault, ARateThatFadesMovesNothing) {
  StepFeed<UpdateFaultRule> feed;
  for (int i = 0; i < 200; ++i) {
    feed.Step({.loss = 2, .learning_rate = 1e-3 * std::pow(0.5, i)});
    EXPECT_EQ(feed.worst, i < 55 ? Severity::kNone : Severity::kWarning) << i;
  }
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 25);  // 2^-24 of the highest
  ExpectWords(feed.Described().sentence);
}

TEST(UpdateFault, SchedulesEndNear0) {
  StepFeed<UpdateFaultRule> cosine;
  for (int i = 0; i <= 20000; ++i) {
    const double part = std::cos(i * 3.14159265358979 / 20000) / 2 + 0.5;
    cosine.Step({.loss = 2, .learning_rate = 1e-8 + 1e-3 * part});
  }
  EXPECT_EQ(cosine.worst, Severity::kNone);
  StepFeed<UpdateFaultRule> last;
  for (int i = 0; i < 400; ++i) {
    last.Step({.loss = 2, .learning_rate = i < 320 ? 1e-3 : 1e-12});
  }
  EXPECT_EQ(last.worst, Severity::kNone) << "a fifth of all updates";
}

// From the first record on, where no digits hide another one.
TEST(UpdateFault, ARateThatWasNeverAnotherThan0) {
  for (const char* told : {"exact", ""}) {
    StepFeed<UpdateFaultRule> feed;
    feed.run.settings["learning_rates"] = told;
    feed.Steps({.loss = 2, .learning_rate = 0.0}, 7);
    EXPECT_EQ(feed.worst, Severity::kNone);
    feed.Steps({.loss = 2, .learning_rate = 0.0}, 40);
    EXPECT_EQ(feed.now, *told != 0 ? Severity::kWarning : Severity::kNone);
  }
  // The loss comes down: others have a rate.
  StepFeed<UpdateFaultRule> learns;
  learns.run.settings["learning_rates"] = "exact";
  for (int i = 0; i < 200; ++i) {
    learns.Step({.loss = 1 + std::exp(-i / 40.0), .learning_rate = 0.0});
  }
  EXPECT_EQ(learns.now, Severity::kInfo);
}

TEST(UpdateFault, ALossOf0HasNoGradient) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps({.loss = 0.0, .fault = UpdateFault::kAllZero}, 500);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(UpdateFault, ItIsOverOnceUpdatesAreMadeRight) {
  StepFeed<UpdateFaultRule> feed;
  feed.Steps(Faulty(UpdateFault::kZeroed), 30);
  feed.Steps(Faulty(UpdateFault::kNone), 7);
  EXPECT_EQ(feed.now, Severity::kWarning);
  feed.Step(Faulty(UpdateFault::kNone));
  EXPECT_EQ(feed.now, Severity::kNone);
}

// --- 63 update_lost ----------------------------------------------------------

Update Stuck(double share, std::optional<double> rate = 1e-6) {
  return {.learning_rate = rate, .stuck = share};
}

TEST(UpdateLost, MostElementsInSeveralMeasuresIsAWarning) {
  for (const auto& rate : std::vector<std::optional<double>>{1e-6, {}}) {
    StepFeed<UpdateLost> feed;
    for (int i = 0; i < 3; ++i) {
      feed.Step(Stuck(0.97, rate));
      feed.Steps({.learning_rate = rate}, 15);
    }
    EXPECT_EQ(feed.worst, Severity::kNone);
    feed.Step(Stuck(0.97, rate));
    EXPECT_EQ(feed.now, Severity::kWarning);
    EXPECT_EQ(feed.Described().opened_step, 1);
    ExpectWords(feed.Described().sentence);
  }
}

TEST(UpdateLost, LessIsNone) {
  StepFeed<UpdateLost> feed;
  feed.Steps(Stuck(0.9), 100);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(UpdateLost, ARateThatRisesOrIsNearlyGoneIsNone) {
  StepFeed<UpdateLost> feed;
  for (int i = 1; i <= 50; ++i) feed.Step(Stuck(1, 1e-7 * i));
  feed.Steps(Stuck(0.2, 1e-3), 50);
  for (int i = 1; i <= 50; ++i) feed.Step(Stuck(1, 1e-6 / i));
  EXPECT_EQ(feed.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
