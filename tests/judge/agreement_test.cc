// The new diagnosis beside the one of before, on random cases.

#include "tests/judge/agreement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "detect/rules.h"
#include "diagnose/diagnose.h"
#include "tests/judge/random_case.h"
#include "tests/judge/reference/diagnose.h"

namespace nanwatch {
namespace {

TEST(AgreementTest, BothSayTheSame) {
  const RuleTables tables(DefaultRules());
  const char* all = std::getenv("NANWATCH_AGREEMENT");
  const uint64_t cases =
      all == nullptr ? 20'000 : std::strtoull(all, nullptr, 10);
  std::map<Cause, int> seen;
  int differ = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    const RandomCase c = MakeRandomCase(seed);
    const Diagnosis was = reference::Diagnose(c.run, c.evidence, c.findings);
    const Diagnosis now =
        Diagnose(c.run, c.evidence, c.findings, tables.in_force());
    for (const CauseVerdict& verdict : was.causes) ++seen[verdict.cause];
    const std::string difference = Difference(was, now);
    if (difference.empty()) continue;
    if (++differ <= 12) ADD_FAILURE() << "seed " << seed << ": " << difference;
  }
  EXPECT_EQ(differ, 0) << "of " << cases;
  for (const auto& [cause, n] : seen)
    std::cout << Name(cause) << ' ' << n << '\n';
  EXPECT_EQ(seen.size(), static_cast<size_t>(kCauses));
}

}  // namespace
}  // namespace nanwatch
