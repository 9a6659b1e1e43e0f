#include "web/uri.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using ::testing::ElementsAre;

TEST(Uri, DecodesOnceAndOnlyOnce) {
  EXPECT_EQ(PercentDecode("a%2Fb%252F"), "a/b%2F");
  EXPECT_EQ(PercentDecode("%e4+%C3%A4"), "\xe4+\xc3\xa4");
  EXPECT_EQ(PercentDecode("%"), std::nullopt);
  EXPECT_EQ(PercentDecode("%4"), std::nullopt);
  EXPECT_EQ(PercentDecode("%g0"), std::nullopt);
}

TEST(Uri, SplitsBeforeDecoding) {
  EXPECT_THAT(*DecodePath("/runs/a%2Fb/steps/"),
              ElementsAre("runs", "a/b", "steps"));
  EXPECT_TRUE(DecodePath("/")->empty());
  EXPECT_THAT(*DecodePath("//x"), ElementsAre("", "x"));
}

TEST(Uri, QueryTakesEachParameterOnce) {
  auto query = Query::Parse("rank=3&from=-9");
  ASSERT_TRUE(query);
  EXPECT_EQ(*query->Take("rank", 0, 0, 10), 3);
  EXPECT_EQ(query->Untaken(), "from");
  EXPECT_EQ(*query->Take("from", 0, -10, 10), -9);
  EXPECT_EQ(*query->Take("to", 77, 0, 100), 77);
  EXPECT_EQ(query->Untaken(), "");
  EXPECT_FALSE(Query::Parse("a=1&a=1"));
}

TEST(Uri, NumbersOutOfRangeAreSentences) {
  auto query = Query::Parse("points=11&x=&y=1e3");
  EXPECT_EQ(query->Take("points", 1, 1, 10).error(),
            "The parameter points is '11', not a whole number from 1 to 10.");
  EXPECT_FALSE(query->Take("x", 0, 0, 9).ok());
  EXPECT_FALSE(query->Take("y", 0, 0, 9999).ok());
}

}  // namespace
}  // namespace nanwatch
