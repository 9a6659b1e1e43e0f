// How bad an incident was, and until when, once it eases or its run ends.

#include <gmock/gmock.h>

#include "tests/unit/alert/book_fixture.h"

namespace nanwatch {
namespace {

class BookEndTest : public ::testing::Test {
 protected:
  // The second counts as the step here.
  void Update(int64_t seconds, const std::vector<Finding>& findings,
              const Diagnosis& diagnosis = {}) {
    book_.Update(At(seconds), seconds, findings, diagnosis, {}, &changed_);
  }

  static Diagnosis Harmless() {
    CauseVerdict verdict;
    verdict.cause = Cause::kHarmlessPadding;
    verdict.rules = {RuleId::kOpSaturation};
    verdict.ops = {"Log"};
    verdict.ceiling = Severity::kInfo;
    return CausedBy(verdict);
  }

  IncidentBook book_{{"run", 0}, {}};
  std::vector<Incident> changed_;
};

TEST_F(BookEndTest, WhatIsFoundHarmlessNeverWasAsBad) {
  Update(0, {OpFinding(21, "Log", Severity::kCritical, 3)});
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kCritical);
  Update(1, {OpFinding(21, "Log", Severity::kCritical, 3)}, Harmless());
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kInfo);
}

TEST_F(BookEndTest, WhatEasesWasAsBad) {
  Update(0, {OpFinding(21, "Log", Severity::kCritical, 3)});
  Update(1, {OpFinding(21, "Log", Severity::kInfo, 3)});
  EXPECT_EQ(book_.incidents()[0].severity, Severity::kInfo);
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kCritical);
  // Its worst had eased before that was known to do no harm.
  Update(2, {OpFinding(21, "Log", Severity::kWarning, 3)}, Harmless());
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kCritical);
  Update(60, {});
  Update(200, {});
  Update(300, {OpFinding(21, "Log", Severity::kWarning, 250)});
  EXPECT_EQ(book_.incidents()[0].reopened, 1);
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kCritical);
}

TEST_F(BookEndTest, IsOverWhenItsFindingsAreGoneAndNotWhenItsHoldEnds) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0)});
  Update(10, {});
  Update(20, {});
  Update(60, {});
  EXPECT_EQ(book_.incidents()[0].state, AlertState::kResolved);
  EXPECT_EQ(book_.incidents()[0].resolved_step, 1) << "after its last step";
}

TEST_F(BookEndTest, IsOverAtTheRecordThatWasBack) {
  Finding gone = ScaleFinding(4, Severity::kWarning, 0);
  Update(0, {gone});
  gone.last_step = 40;
  gone.back_step = 50;
  book_.NoteLast(gone);
  Update(60, {});
  Update(60, {});
  EXPECT_EQ(book_.incidents()[0].resolved_step, 50);
}

TEST_F(BookEndTest, OfWhatARunEndsWithNoStepIsTheLast) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0),
             OpFinding(21, "Log", Severity::kWarning, 0)});
  Update(10, {OpFinding(21, "Log", Severity::kWarning, 0)});
  book_.Close(At(20), "run closed", &changed_);
  for (const Incident& incident : book_.incidents()) {
    const bool held = incident.rule == RuleId::kScaleCollapse;
    EXPECT_EQ(incident.resolved_step,
              held ? std::optional<int64_t>(1) : std::nullopt);
    EXPECT_EQ(incident.resolved_reason, held ? "cleared" : "run closed");
  }
}

}  // namespace
}  // namespace nanwatch
