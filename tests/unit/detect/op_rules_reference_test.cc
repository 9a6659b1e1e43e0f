// Rule 20 against a reference that looks at the whole history again.

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "detect/persistent_op_overflow.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

struct Seen {
  int64_t update;
  bool bad;
};

// Updates of the last 10 with a bad status. Updates before the first status
// do not count.
int BadOfTen(const std::vector<Seen>& seen) {
  int count = 0;
  for (int64_t a = seen.back().update - 9; a <= seen.back().update; ++a) {
    bool bad = false;
    for (const Seen& s : seen) bad = bad || (s.update == a && s.bad);
    count += bad;
  }
  return count;
}

TEST(PersistentOpOverflowReference, AgreesOnRandomStatuses) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::minstd_rand engine(seed);
    OpFeed<PersistentOpOverflow> feed(Scaler("pytorch"));
    feed.Record({.scale = 1024, .overflow = false});  // calibrated
    std::vector<Seen> seen;
    Severity expected = Severity::kNone;
    int64_t last_bad = 0;
    unsigned odds = 4;
    for (int i = 0; i < 1200; ++i) {
      if (engine() % 100 == 0) odds = 2 + engine() % 400;
      const auto updates = engine() % 4;  // 0: the same update again
      for (unsigned k = 0; k < updates || feed.step == 0; ++k) {
        feed.Record({.scale = 1024, .overflow = false});
      }
      const bool bad = engine() % odds == 0;
      feed.Count(OpCount::kPosInf, bad ? 1 : 0);
      const Severity before = feed.now;
      feed.Status();
      const int64_t update = feed.tracker.updates();
      seen.push_back({update, bad});
      if (bad) last_bad = update;
      if (bad && BadOfTen(seen) >= 3) {
        expected = Severity::kCritical;
      } else if (!bad && update - last_bad >= 200) {
        expected = Severity::kNone;
      }
      ASSERT_EQ(feed.now, expected) << "status " << i;
      changes += feed.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

}  // namespace
}  // namespace nanwatch
