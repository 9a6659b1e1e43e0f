#include "detect/score_lost.h"

#include <gtest/gtest.h>

#include <string>

#include "detect/all_rules.h"
#include "detect/rules.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/time_feed.h"

namespace nanwatch {
namespace {

class ScoreLostTest : public testing::Test {
 protected:
  Severity Judge(const std::string& score, const std::string& evaluation = "",
                 const std::string& latents = "") {
    RunDescription run;
    run.settings["score"] = score;
    run.settings["evaluation_high"] = evaluation;
    run.settings["latents_unused"] = latents;
    const RuleTables tables(DefaultRules());
    const RuleTable<TimeRules::kSize>& time = tables.time();
    return nanwatch::Judge(run, &rule_,
                           time.thresholds[TimeRules::IndexOf<ScoreLost>()]);
  }
  Finding Described() const {
    Finding finding;
    rule_.Describe(&finding);
    return finding;
  }

  ScoreLost rule_;
};

// Since, records, all, above, first, best, stands, noise, wander.
TEST_F(ScoreLostTest, AReturnThatIsBackWhereItBeganIsAWarning) {
  EXPECT_EQ(Judge("97 16 150 60 20 480 9.3 12 40"), Severity::kNone)
      << "it may come back";
  EXPECT_EQ(Judge("97 16 150 60 20 480 9.3 12 40 end"), Severity::kWarning);
  EXPECT_EQ(Described().opened_step, 97);
  ExpectWords(Described().sentence);
  ExpectWords(Described().sentence_over);
  EXPECT_EQ(Judge("97 64 180 60 20 480 9.3 12 40"), Severity::kWarning);
  EXPECT_EQ(Judge("97 64 400 60 20 480 9.3 12 40"), Severity::kNone)
      << "a small part of it";
  EXPECT_EQ(Judge("97 16 400 60 20 480 9.3 12 40 end"), Severity::kNone)
      << "a small part of it";
}

TEST_F(ScoreLostTest, LessIsNone) {
  EXPECT_EQ(Judge("97 16 150 60 20 480 100 12 40 end"), Severity::kNone)
      << "not all of it";
  EXPECT_EQ(Judge("97 16 150 60 20 40 19 12 2 end"), Severity::kNone)
      << "noise";
  EXPECT_EQ(Judge("97 16 150 60 20 480 9.3 12 200 end"), Severity::kNone)
      << "it wanders so";
  EXPECT_EQ(Judge("97 16 150 60 200 240 190 2 4 end"), Severity::kNone)
      << "of no effect";
  EXPECT_EQ(Judge("97 16 150 9 20 480 9.3 12 40 end"), Severity::kNone)
      << "it never stood there";
  EXPECT_EQ(Judge("97 5 60 40 20 480 9.3 12 40 end"), Severity::kNone)
      << "five";
}

// However little it had risen.
TEST_F(ScoreLostTest, AReturnFarBelowItsFirstOnesIsAWarning) {
  EXPECT_EQ(Judge("170 130 300 160 0.26 0.31 0.14 0.004 0.01 end"),
            Severity::kWarning);
  EXPECT_EQ(Judge("170 130 300 160 0.26 0.31 0.22 0.004 0.01 end"),
            Severity::kNone)
      << "not so far";
  EXPECT_EQ(Judge("170 130 300 160 0.26 0.31 0.14 0.004 0.2 end"),
            Severity::kNone)
      << "it wanders so";
}

TEST_F(ScoreLostTest, AnEvaluationThatRisesToTheEndIsANote) {
  EXPECT_EQ(Judge("", "11 4 4 0 2.4 2.3 3.9 0 0 end"), Severity::kInfo);
  EXPECT_EQ(Judge("", "11 3 4 0 2.4 2.3 3.9 0 0 end"), Severity::kNone);
  EXPECT_EQ(Judge("", "11 4 4 0 4.4 2.3 3.9 0 0 end"), Severity::kNone)
      << "below its first";
}

TEST_F(ScoreLostTest, AnEvaluationThatBlewUpIsAWarning) {
  EXPECT_EQ(Judge("", "11 3 3 0 6.9 1.7 900 0 0"), Severity::kNone);
  EXPECT_EQ(Judge("", "11 4 4 0 6.9 1.7 900 0 0"), Severity::kWarning);
  ExpectWords(Described().sentence);
  ExpectWords(Described().sentence_over);
  EXPECT_EQ(Judge("", "11 2 2 0 6.9 1.7 900 0 0 end"), Severity::kWarning);
  EXPECT_EQ(Judge("", "11 4 4 0 6.9 1.7 10 0 0"), Severity::kNone)
      << "learnt by heart";
  EXPECT_EQ(Judge("", "11 4 4 0 2.3 0.001 0.1 0 0"), Severity::kNone)
      << "next to nothing";
}

TEST_F(ScoreLostTest, AnythingElseThereSaysNothing) {
  for (const char* text : {"x", " ", "97", "97 16 150 0 20 480", "end"}) {
    EXPECT_EQ(Judge(text, text), Severity::kNone) << text;
  }
}

TEST_F(ScoreLostTest, LatentsThatGoOnToTheirPriorAreANote) {
  const auto of = [this](const char* latents) {
    return Judge("", "", latents);
  };
  EXPECT_EQ(of("2 8 9 0 0.0021 0 0.0002 0 0"), Severity::kInfo);
  EXPECT_EQ(Described().opened_step, 2);
  ExpectWords(Described().sentence);
  ExpectWords(Described().sentence_over);
  EXPECT_EQ(of("2 4 5 0 0.0021 0 0.0002 0 0"), Severity::kNone) << "they begin";
  EXPECT_EQ(of("20 8 27 0 0.0021 0 0.0002 0 0"), Severity::kNone)
      << "a small part of it";
  EXPECT_EQ(of("2 8 9 0 0.0021 0 0.0018 0 0"), Severity::kNone)
      << "a mean over many that stays";
  EXPECT_EQ(of("2 8 9 0 0 0 0 0 0"), Severity::kNone) << "its weight is 0";
}

}  // namespace
}  // namespace nanwatch
