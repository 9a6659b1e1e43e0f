// BlockMaximum, BitWindow and Log2 against references with full history.

#include "detect/block_maximum.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "detect/bit_window.h"
#include "detect/float_log2.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

TEST(Log2, IsWithinOneMillionth) {
  for (double x = 1e-37; x < 1e38; x *= 1.0173) {
    const auto f = static_cast<float>(x);
    const double exact = std::log2(static_cast<double>(f));
    ASSERT_NEAR(Log2(f), exact, 1e-6 * std::max(8.0, std::fabs(exact))) << x;
  }
  EXPECT_EQ(Log2(1), 0);
}

TEST(BlockMaximum, AgreesWithItsDefinition) {
  std::minstd_rand engine(7);
  BlockMaximum<10, 5> maximum;
  std::vector<float> pushed;
  for (int i = 0; i < 1000; ++i) {
    pushed.push_back(static_cast<float>(engine() % 10000));
    maximum.Push(pushed.back());
    ASSERT_EQ(maximum.maximum(), BlockMaximumOf(pushed, 10, 5)) << i;
  }
}

TEST(BitWindow, CountsTheLastN) {
  std::minstd_rand engine(7);
  BitWindow<70> window;
  std::vector<bool> bits;
  for (int i = 0; i < 1000; ++i) {
    const auto action = engine() % 10;
    if (action == 0 && !bits.empty()) {
      window.SetNewest();
      bits.back() = true;
    } else if (action == 1) {
      const auto skipped = static_cast<int>(engine() % 90);
      window.Skip(skipped);
      bits.insert(bits.end(), skipped, false);
    } else {
      bits.push_back(engine() % 3 == 0);
      window.Push(bits.back());
    }
    const size_t size = std::min<size_t>(70, bits.size());
    ASSERT_EQ(window.size(), static_cast<int>(size)) << i;
    ASSERT_EQ(window.ones(), std::count(bits.end() - size, bits.end(), true))
        << i;
  }
}

}  // namespace
}  // namespace nanwatch
