#include "rpc/users.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(UsersTest, AUserIsTheSameForAllWhoNameHim) {
  Users users({});
  const auto ann = users.Of("ann");
  EXPECT_EQ(users.Of("ann"), ann);
  EXPECT_NE(users.Of("bob")->number(), ann->number());
  EXPECT_NE(users.Of("")->number(), ann->number());
}

TEST(UsersTest, WhoIsGoneIsForgottenOnlyWhereManyCame) {
  Users users({});
  const auto here = users.Of("here");
  const uint64_t gone = users.Of("gone")->number();
  EXPECT_EQ(users.Of("gone")->number(), gone);
  for (int i = 0; i < 10000; ++i) users.Of("user-" + std::to_string(i));
  EXPECT_NE(users.Of("gone")->number(), gone);
  EXPECT_EQ(users.Of("here"), here);
}

TEST(UsersTest, CountsStreamsAndQueriesOfEach) {
  UserQuotas quotas;
  quotas.each.streams = 1;
  quotas.users["bob"] = {.streams = 2, .queries = 1};
  Users users(quotas);
  const auto ann = users.Of("ann");
  const auto bob = users.Of("bob");
  EXPECT_TRUE(ann->OpenStream());
  EXPECT_FALSE(ann->OpenStream());
  EXPECT_TRUE(bob->OpenStream());
  EXPECT_TRUE(bob->OpenStream());
  EXPECT_FALSE(bob->OpenStream());
  ann->CloseStream();
  EXPECT_TRUE(ann->OpenStream());
  EXPECT_TRUE(bob->Ask(Query::kWatch));
  EXPECT_FALSE(bob->Ask(Query::kWatch));
  EXPECT_TRUE(bob->Ask(Query::kCall));
  bob->Answered(Query::kWatch);
  EXPECT_TRUE(bob->Ask(Query::kWatch));
}

TEST(UsersTest, NobodyHasAllThePlacesOfAKind) {
  UserQuotas quotas;
  quotas.each.queries = 100000;
  Users users(quotas);
  const auto ann = users.Of("ann");
  for (const auto& [kind, most] :
       {std::pair(Query::kCall, 24), std::pair(Query::kWatch, 96),
        std::pair(Query::kExport, 12)}) {
    int asked = 0;
    while (ann->Ask(kind)) ++asked;
    EXPECT_EQ(asked, most);
  }
}

TEST(UsersTest, OtherQuotasHoldAtOnce) {
  Users users({});
  const auto ann = users.Of("ann");
  EXPECT_TRUE(ann->OpenStream());
  UserQuotas quotas;
  quotas.each.streams = 1;
  quotas.each.bytes_per_second = 1000;
  users.Set(quotas);
  EXPECT_FALSE(ann->OpenStream());
  EXPECT_GT(ann->Spend(std::chrono::seconds(1), 3000), Duration(0));
}

}  // namespace
}  // namespace nanwatch
