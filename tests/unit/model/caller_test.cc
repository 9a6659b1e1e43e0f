#include "model/caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nanwatch {
namespace {

using testing::HasSubstr;

const Caller kAnn{"ann", "uid 1000", false};
const Caller kBob{"bob", "uid 1001", false};
const Caller kRoot{"root", "uid 0", true};
const Caller kNobodyAsked;

TEST(CallerTest, TheOwnerAndAdminsMayChangeARun) {
  EXPECT_TRUE(MayChange("ann", kAnn));
  EXPECT_TRUE(MayChange("ann", kRoot));
  EXPECT_FALSE(MayChange("ann", kBob));
  EXPECT_FALSE(MayChange("ann", kNobodyAsked));
  EXPECT_FALSE(MayChange("annabel", kAnn));
  EXPECT_FALSE(MayChange("ann", {"annabel", "uid 1002", false}));
}

TEST(CallerTest, ARunWithoutAnOwnerIsEverybodys) {
  EXPECT_TRUE(MayChange("", kBob));
  EXPECT_TRUE(MayChange("", kNobodyAsked));
}

TEST(CallerTest, AnOwnerByNumberIsTheSameUser) {
  EXPECT_TRUE(MayChange("uid 1000", kAnn));
  EXPECT_FALSE(MayChange("uid 1000", kBob));
}

TEST(CallerTest, SaysWhoseItIsAndWhatToDo) {
  const std::string why = WhyNotChange("job-7", "ann", kBob);
  for (const char* word : {"job-7", "ann", "bob", "access.admins"}) {
    EXPECT_THAT(why, HasSubstr(word));
  }
  EXPECT_THAT(WhyNotChange("job-7", "ann", kNobodyAsked),
              HasSubstr("unix socket"));
}

TEST(CallerTest, WhoSpeaksIsNamedByWhatWasProven) {
  EXPECT_EQ(Speaker("ann", ""), "ann (unverified)");
  EXPECT_EQ(Speaker("", ""), "somebody (unverified)");
  EXPECT_EQ(Speaker("", "root"), "root");
  EXPECT_EQ(Speaker("root", "root"), "root");
  EXPECT_EQ(Speaker("ann", "root"), "ann (root)");
}

}  // namespace
}  // namespace nanwatch
