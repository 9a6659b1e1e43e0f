#include "app/record_judge.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/golden/words.h"

namespace nanwatch {
namespace {

StepRecord Update(int64_t number, double scale, bool over) {
  const auto bit = [](auto f) { return 1u << static_cast<int>(f); };
  StepRecord step;
  step.step = number;
  step.present = bit(StepField::kLossScale);
  step.value[static_cast<int>(StepField::kLossScale)] = scale;
  if (!over) {
    step.present |= bit(StepField::kLoss);
    step.value[static_cast<int>(StepField::kLoss)] = 3;
  }
  step.flags_present =
      static_cast<uint8_t>(bit(StepFlag::kOverflow) | bit(StepFlag::kSkipped));
  if (over) step.flags = step.flags_present;
  return step;
}

// Of a run of which nothing else is known, and whose news nobody takes.
RecordJudge::Options Plain() {
  return {.run_id = "r",
          .rules = {},
          .describe = [](int32_t) { return RunDescription(); },
          .on_notice = {},
          .on_event = {}};
}

// A finding is described anew now and then only, while it lasts.
TEST(RecordJudgeTest, TheLastWordIsOfTheLastRecord) {
  int told = 0;
  RecordJudge judge({.run_id = "r",
                     .rules = {},
                     .describe = [](int32_t) { return RunDescription(); },
                     .on_notice = [&](const Notice&) { ++told; },
                     .on_event = {}});
  double scale = 32768;
  for (int64_t i = 1; i <= 300; ++i) {
    const bool over = i >= 180;
    if (over) scale = std::max(scale / 2, 1.0);
    judge.Take(0, "", Update(i, scale, over));
  }
  const RecordVerdict verdict = judge.Conclude();
  EXPECT_EQ(verdict.records, 300u);
  EXPECT_EQ(verdict.at_end, Severity::kCritical);
  ASSERT_EQ(verdict.attempts.size(), 1u);
  ExpectWords(verdict.attempts[0]->diagnosis.headline);
  bool found = false;
  for (const Incident& incident : verdict.attempts[0]->incidents) {
    for (const Finding& finding : incident.findings) {
      if (finding.rule != RuleId::kOverflowStreak) continue;
      found = true;
      ExpectWords(finding.sentence);
    }
  }
  EXPECT_TRUE(found);
  EXPECT_GT(told, 0);
}

// A log's library tells of itself at the first overflow, long after the
// program.
TEST(RecordJudgeTest, WhatTrainsMayShowLater) {
  std::string framework = "imagenet";
  RecordJudge judge({.run_id = "r",
                     .rules = {},
                     .describe =
                         [&](int32_t) {
                           RunDescription run;
                           run.framework = framework;
                           return run;
                         },
                     .on_notice = {},
                     .on_event = {}});
  double scale = 65536;
  for (int64_t i = 1; i <= 400; ++i) {
    const bool over = i >= 300 && i < 310;
    if (over) {
      framework = "imagenet+apex";
      scale /= 2;
    }
    judge.Take(0, "", Update(i, scale, over));
  }
  const RecordVerdict verdict = judge.Conclude();
  ASSERT_EQ(verdict.attempts.size(), 1u);
  EXPECT_EQ(verdict.attempts[0]->description.framework, "imagenet+apex");
  EXPECT_EQ(verdict.attempts[0]->scaler.name, "apex");
}

// A fall to the floor is found as a streak first, then at the floor: one
// trouble, and one line of a report.
TEST(RecordJudgeTest, OneTroubleIsOneIncident) {
  RecordJudge judge(Plain());
  double scale = 131072;
  const auto take = [&](int64_t i, bool over) {
    StepRecord record = Update(i, scale, over);
    const auto step = static_cast<double>(i);
    record.value[static_cast<int>(StepField::kLoss)] = 3 + 1000 / (100 + step);
    judge.Take(0, "", record);
  };
  for (int64_t i = 1; i <= 1500; ++i) take(i, false);
  for (int64_t i = 1501; i <= 3000; ++i) {
    const bool over = i % 25 != 0;  // now and then one fits
    if (over) scale = std::max(scale / 2, 1.0);
    take(i, over);
  }
  const RecordVerdict verdict = judge.Conclude();
  ASSERT_EQ(verdict.attempts.size(), 1u);
  size_t serious = 0;
  for (const Incident& incident : verdict.attempts[0]->incidents) {
    if (incident.worst < Severity::kWarning) continue;
    ++serious;
    EXPECT_EQ(incident.opened_step, 1501);
  }
  EXPECT_EQ(serious, 1u);
  ExpectWords(verdict.attempts[0]->diagnosis.headline);
}

// A checkpoint that was not loaded, after a restart ten steps back.
TEST(RecordJudgeTest, ARestartGoesOnWithWhatWasReached) {
  RecordJudge judge(Plain());
  const auto take = [&](int64_t step, double loss) {
    StepRecord record = Update(step, 65536, false);
    record.value[static_cast<int>(StepField::kLoss)] = loss;
    judge.Take(0, "", record);
  };
  for (int64_t i = 1; i <= 600; ++i) take(i, std::max(2.8, 11 - 0.05 * i));
  for (int64_t i = 591; i <= 890; ++i) take(i, 9);
  const RecordVerdict verdict = judge.Conclude();
  ASSERT_EQ(verdict.attempts.size(), 2u);
  EXPECT_EQ(verdict.at_end, Severity::kCritical);
  ExpectWords(verdict.attempts[1]->diagnosis.headline);
}

// 400 healthy steps, 60 that `loss` tells, and a restart from step 380 that
// goes well: how bad the first attempt was.
Severity WorstOfRestarted(const std::function<double(int64_t)>& loss) {
  RecordJudge judge(Plain());
  const auto take = [&](int64_t step, double value) {
    StepRecord record = Update(step, 65536, false);
    record.value[static_cast<int>(StepField::kLoss)] =
        value + 0.01 * static_cast<double>(step % 7);
    judge.Take(0, "", record);
  };
  for (int64_t i = 1; i <= 400; ++i) take(i, std::max(2.8, 9 - 0.05 * i));
  for (int64_t i = 1; i <= 60; ++i) take(400 + i, loss(i));
  for (int64_t i = 380; i <= 900; ++i) take(i, 2.8);
  const RecordVerdict verdict = judge.Conclude();
  EXPECT_EQ(verdict.attempts.size(), 2u);
  EXPECT_EQ(verdict.at_end, Severity::kNone);
  // Somebody began again.
  EXPECT_LE(verdict.stands, Severity::kWarning);
  return verdict.worst;
}

// Of the attempt before nothing follows, as at the end of a log.
TEST(RecordJudgeTest, AnAttemptThatWasGivenUpIsJudgedAsItStood) {
  EXPECT_EQ(WorstOfRestarted([](int64_t) { return 9.0; }), Severity::kCritical);
  EXPECT_LE(WorstOfRestarted([](int64_t i) {
              return i < 10 ? 4.0 : std::max(2.8, 4 - 0.05 * i);
            }),
            Severity::kWarning);
  EXPECT_LE(WorstOfRestarted([](int64_t) { return 2.8; }), Severity::kInfo);
}

// 300 healthy steps, 100 at three times the loss, and `after` that are healthy.
RecordVerdict VerdictOfHigh(int64_t after) {
  RecordJudge judge(Plain());
  for (int64_t i = 1; i <= 400 + after; ++i) {
    const bool high = i > 300 && i <= 400;
    StepRecord record = Update(i, 65536, false);
    record.value[static_cast<int>(StepField::kLoss)] =
        (high ? 9.0 : std::max(2.8, 9 - 0.05 * static_cast<double>(i))) +
        0.01 * static_cast<double>(i % 7);
    judge.Take(0, "", record);
  }
  return judge.Conclude();
}

TEST(RecordJudgeTest, WhatWasCriticalAndIsOverIsAWarning) {
  const RecordVerdict lost = VerdictOfHigh(0);
  EXPECT_EQ(lost.worst, Severity::kCritical);
  EXPECT_EQ(lost.stands, Severity::kCritical);
  const RecordVerdict over = VerdictOfHigh(500);
  EXPECT_EQ(over.worst, Severity::kCritical);
  EXPECT_EQ(over.stands, Severity::kWarning);
  EXPECT_EQ(over.attempts.back()->diagnosis.condition, Condition::kHealed);
}

// Each time at step 5300, from the checkpoint of step 5000; the last attempt
// goes well.
TEST(RecordJudgeTest, WhatEachRestartRepeatsIsOneIncident) {
  RecordJudge judge(Plain());
  const auto take = [&](int64_t step, bool bad) {
    StepRecord record = Update(step, 65536, false);
    record.flags_present = record.flags = 0;
    if (bad) record.value[static_cast<int>(StepField::kLoss)] = NAN;
    judge.Take(0, "", record);
  };
  for (int attempt = 0; attempt < 5; ++attempt) {
    for (int64_t i = 5000; i < 5310; ++i) take(i, i >= 5300);
  }
  for (int64_t i = 5000; i < 6000; ++i) take(i, false);
  const RecordVerdict verdict = judge.Conclude();
  ASSERT_EQ(verdict.attempts.size(), 6u);
  EXPECT_EQ(verdict.worst, Severity::kCritical);
  EXPECT_EQ(verdict.stands, Severity::kWarning);
  EXPECT_EQ(verdict.at_end, Severity::kNone);
  std::vector<int> attempts;
  for (const auto& attempt : verdict.attempts) {
    for (const Incident& incident : attempt->incidents) {
      if (incident.rule != RuleId::kLossNonfinite) continue;
      attempts.push_back(attempt->key.attempt);
      EXPECT_EQ(incident.opened_step, 5300);
      EXPECT_EQ(incident.worst, Severity::kCritical);
      EXPECT_EQ(incident.reopened, 4);
    }
  }
  EXPECT_EQ(attempts, std::vector<int>{4});
}

// A scaler that lives at 1/2 and probes each 2,000 updates.
TEST(RecordJudgeTest, WhatEachProbeRepeatsIsOneIncident) {
  RecordJudge judge(Plain());
  double scale = 4;
  for (int64_t i = 0; i < 3; ++i)
    judge.Take(0, "", Update(i, scale /= 2, true));
  for (int64_t i = 3; i < 12'000; ++i) {
    judge.Take(0, "", Update(i, 0.5, i % 2000 == 0));
  }
  const RecordVerdict verdict = judge.Conclude();
  EXPECT_EQ(verdict.worst, Severity::kWarning);
  ASSERT_EQ(verdict.attempts.size(), 1u);
  int scales = 0;
  for (const Incident& incident : verdict.attempts[0]->incidents) {
    if (incident.family != Family::kScale) continue;
    ++scales;
    EXPECT_LE(incident.opened_step, 4);
    EXPECT_GE(incident.reopened, 1);
  }
  EXPECT_EQ(scales, 1);
}

// Weeks of training later it is another one.
TEST(RecordJudgeTest, WhatALaterAttemptMeetsFarBeyondIsItsOwn) {
  RecordJudge judge(Plain());
  const auto run = [&](int64_t from, int64_t bad_from) {
    for (int64_t i = from; i < bad_from + 10; ++i) {
      StepRecord record = Update(i, 65536, false);
      if (i >= bad_from) {
        record.value[static_cast<int>(StepField::kLoss)] = NAN;
      }
      judge.Take(0, "", record);
    }
  };
  run(5000, 5300);
  run(5000, 9000);
  const RecordVerdict verdict = judge.Conclude();
  ASSERT_EQ(verdict.attempts.size(), 2u);
  for (const auto& attempt : verdict.attempts) {
    EXPECT_FALSE(attempt->incidents.empty());
  }
}

}  // namespace
}  // namespace nanwatch
