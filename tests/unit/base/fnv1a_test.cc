#include "base/fnv1a.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

// Values of the authors' test suite (isthe.com/chongo/tech/comp/fnv).
TEST(Fnv1aTest, HashesAsPublished) {
  EXPECT_EQ(Fnv1aOf(""), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv1aOf("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Fnv1aOf("foobar"), 0x85944171f73967e8u);
}

TEST(Fnv1aTest, PutsNumbersLowestByteFirst) {
  Fnv1a hash;
  hash.Put(uint32_t{0x6f6f6663});
  EXPECT_EQ(hash.value(), Fnv1aOf("cfoo"));
}

TEST(Fnv1aTest, KeepsSizedTextsApart) {
  Fnv1a one;
  one.PutSized("ab");
  one.PutSized("c");
  Fnv1a other;
  other.PutSized("a");
  other.PutSized("bc");
  EXPECT_NE(one.value(), other.value());
}

}  // namespace
}  // namespace nanwatch
