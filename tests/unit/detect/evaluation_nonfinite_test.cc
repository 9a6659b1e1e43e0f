#include "detect/evaluation_nonfinite.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/detect/time_feed.h"

namespace nanwatch {
namespace {

TEST(EvaluationNonfiniteTest, IsAWarningUntilOneIsFiniteAgain) {
  EvaluationNonfinite rule;
  RunDescription run;
  EXPECT_EQ(Judge(run, &rule), Severity::kNone);
  run.settings["evaluation_not_finite"] = "350 val_loss";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  Finding finding;
  rule.Describe(&finding);
  EXPECT_EQ(finding.opened_step, 350);
  EXPECT_EQ(finding.last_step, 400);
  run.settings["evaluation_not_finite"] = "";
  EXPECT_EQ(Judge(run, &rule), Severity::kNone);
}

TEST(EvaluationNonfiniteTest, SaysOfAPerplexityThatItIsNone) {
  EvaluationNonfinite rule;
  RunDescription run;
  run.settings["evaluation_not_finite"] = "350 Test Perplexity";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  Finding perplexity;
  rule.Describe(&perplexity);
  run.settings["evaluation_not_finite"] = "350 Test Loss";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  Finding loss;
  rule.Describe(&loss);
  EXPECT_NE(perplexity.sentence, loss.sentence);
}

TEST(EvaluationNonfiniteTest, AnythingElseThereSaysNothing) {
  EvaluationNonfinite rule;
  RunDescription run;
  for (const char* text : {"x", " ", "val_loss 350"}) {
    run.settings["evaluation_not_finite"] = text;
    EXPECT_EQ(Judge(run, &rule), Severity::kNone) << text;
  }
  run.settings["evaluation_not_finite"] = "350" + std::string(500, 'x');
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
