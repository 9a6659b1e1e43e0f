// Rules 72 and 73: what a log tells of layers and of terms of the loss.

#include <gtest/gtest.h>

#include <string>

#include "detect/layer_without_gradient.h"
#include "detect/term_nonfinite.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/time_feed.h"

namespace nanwatch {
namespace {

template <typename Rule>
Finding Described(const Rule& rule) {
  Finding finding;
  rule.Describe(&finding);
  return finding;
}

TEST(TermNonfiniteTest, IsAWarningUntilItIsFiniteAgain) {
  TermNonfinite rule;
  RunDescription run;
  EXPECT_EQ(Judge(run, &rule), Severity::kNone);
  run.settings["term_not_finite"] = "350 kl";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  const Finding finding = Described(rule);
  EXPECT_EQ(finding.opened_step, 350);
  EXPECT_EQ(finding.last_step, 400);
  ExpectWords(finding.sentence);
  ExpectWords(finding.sentence_over);
  for (const char* other : {"", "kl", " "}) {
    run.settings["term_not_finite"] = other;
    EXPECT_EQ(Judge(run, &rule), Severity::kNone) << other;
  }
}

TEST(TermNonfiniteTest, AMetricIsOneToo) {
  TermNonfinite rule;
  RunDescription run;
  run.settings["metric_not_finite"] = "350 reward";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  const Finding finding = Described(rule);
  EXPECT_EQ(finding.opened_step, 350);
  ExpectWords(finding.sentence);
  ExpectWords(finding.sentence_over);
  run.settings["term_not_finite"] = "360 kl";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  EXPECT_EQ(Described(rule).opened_step, 360);
  ExpectWords(Described(rule).sentence);
}

TEST(LayerWithoutGradientTest, OneThatHadAGradientIsAWarning) {
  LayerWithoutGradient rule;
  RunDescription run;
  EXPECT_EQ(Judge(run, &rule), Severity::kNone);
  run.settings["layer_without_gradient"] = "0 layers.2.mlp and 1 more";
  EXPECT_EQ(Judge(run, &rule), Severity::kInfo);
  ExpectWords(Described(rule).sentence);
  run.settings["layer_lost_gradient"] = "350 layers.1.mlp";
  EXPECT_EQ(Judge(run, &rule), Severity::kWarning);
  EXPECT_EQ(Described(rule).opened_step, 350);
  ExpectWords(Described(rule).sentence);
  ExpectWords(Described(rule).sentence_over);
  run.settings["layer_lost_gradient"] = "";
  run.settings["layer_without_gradient"] = "";
  EXPECT_EQ(Judge(run, &rule), Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
