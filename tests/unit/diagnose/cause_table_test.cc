#include <gmock/gmock.h>

#include <set>

#include "diagnose/brought.h"
#include "diagnose/causes.h"
#include "diagnose/rank.h"
#include "tests/judge/random_case.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

const CauseSpec& SpecOf(Cause cause) {
  for (const CauseSpec& spec : AllCauses()) {
    if (spec.cause == cause) return spec;
  }
  ADD_FAILURE() << Name(cause);
  return AllCauses()[0];
}

TEST(CauseTableTest, EveryCauseIsThereOnceButTheUnexplained) {
  std::set<Cause> seen;
  for (const CauseSpec& cause : AllCauses()) {
    EXPECT_TRUE(seen.insert(cause.cause).second) << Name(cause.cause);
    EXPECT_TRUE(cause.meaning.ends_with('.')) << Name(cause.cause);
    EXPECT_FALSE(cause.rules.empty()) << Name(cause.cause);
  }
  EXPECT_EQ(seen.size(), kCauses - 1u);
  EXPECT_EQ(seen.count(Cause::kUnexplained), 0u);
}

TEST(CauseTableTest, FormsStandInTheirOrderAndYieldToEarlierOnes) {
  uint64_t before = 0;
  std::set<Cause> seen;
  for (size_t i = 0; i < AllForms().size(); ++i) {
    const CauseForm& form = AllForms()[i];
    EXPECT_EQ(static_cast<size_t>(form.form), i);
    EXPECT_EQ(form.yields_to & ~before, 0u) << i;
    EXPECT_TRUE((form.rules - SpecOf(form.cause).rules).empty()) << i;
    before |= Bit(form.form);
    seen.insert(form.cause);
  }
  EXPECT_EQ(seen.size(), kCauses - 1u) << "a cause without a form";
}

TEST(CauseTableTest, WhatATroubleBringsOpensNearIt) {
  std::set<Trouble> seen;
  for (const BroughtRow& row : AllBrought()) {
    EXPECT_LT(row.from, row.to);
    EXPECT_FALSE(row.rules.empty());
    EXPECT_TRUE(row.why.ends_with('.'));
    seen.insert(row.trouble);
  }
  EXPECT_EQ(seen.size(), 6u) << "a trouble that brings nothing";
}

// Whatever is found and measured: what the tables promise holds.
TEST(CauseTableTest, NoCauseExplainsMoreThanItsRow) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const RandomCase c = MakeRandomCase(seed);
    const Diagnosis diagnosis =
        Diagnose(c.run, c.evidence, c.findings, Thresholds());
    ASSERT_FALSE(diagnosis.headline.empty()) << seed;
    for (const Finding& finding : c.findings) {
      ASSERT_NE(FirstCause(diagnosis, finding), nullptr) << seed;
    }
    for (const CauseVerdict& verdict : diagnosis.causes) {
      ASSERT_FALSE(verdict.sentence.empty()) << seed;
      ASSERT_TRUE((verdict.uncapped - verdict.rules).empty()) << seed;
      if (verdict.cause == Cause::kUnexplained) continue;
      // Silence speaks of every finding of telemetry.
      if (verdict.cause == Cause::kSilence) continue;
      ASSERT_TRUE((verdict.rules - SpecOf(verdict.cause).rules).empty())
          << seed << ' ' << Name(verdict.cause);
    }
  }
}

}  // namespace
}  // namespace nanwatch
