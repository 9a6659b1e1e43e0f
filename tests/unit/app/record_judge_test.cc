#include "app/record_judge.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

StepRecord Attempt(int64_t number, double scale, bool over) {
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
    judge.Take(0, "", Attempt(i, scale, over));
  }
  const RecordVerdict verdict = judge.Verdict();
  EXPECT_EQ(verdict.records, 300u);
  EXPECT_EQ(verdict.at_end, Severity::kCritical);
  ASSERT_EQ(verdict.attempts.size(), 1u);
  EXPECT_THAT(verdict.attempts[0]->diagnosis.headline,
              HasSubstr("121 attempts in a row"));
  bool found = false;
  for (const Incident& incident : verdict.attempts[0]->incidents) {
    for (const Finding& finding : incident.findings) {
      if (finding.rule != 5) continue;
      found = true;
      EXPECT_THAT(finding.sentence, HasSubstr("121 attempts in a row"));
    }
  }
  EXPECT_TRUE(found);
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace nanwatch
