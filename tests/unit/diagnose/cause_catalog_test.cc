#include "diagnose/cause_catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace nanwatch {
namespace {

TEST(CauseCatalogTest, EveryCauseIsThereOnceButTheUnexplained) {
  std::set<Cause> seen;
  for (const CauseSpec& cause : AllCauses()) {
    EXPECT_TRUE(seen.insert(cause.cause).second) << Name(cause.cause);
    EXPECT_TRUE(cause.meaning.ends_with('.')) << Name(cause.cause);
    EXPECT_FALSE(cause.rules.empty()) << Name(cause.cause);
    EXPECT_TRUE(std::is_sorted(cause.rules.begin(), cause.rules.end()))
        << Name(cause.cause);
  }
  EXPECT_EQ(seen.size(), kCauses - 1u);
  EXPECT_EQ(seen.count(Cause::kUnexplained), 0u);
}

}  // namespace
}  // namespace nanwatch
