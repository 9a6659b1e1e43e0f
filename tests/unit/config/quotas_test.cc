#include <gmock/gmock.h>

#include "config/config.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

TEST(QuotasSection, WhatAUserIsNotGivenHeHasAsEveryone) {
  const auto config = ParseConfig(R"(
quotas:
  runs: 7
  bytes_per_second: 1MiB
  users: {ann: {runs: 9}, "1000": {streams: 1}}
)",
                                  "f.yaml");
  ASSERT_TRUE(config.ok()) << config.error();
  const UserQuotas& quotas = config->server.quotas;
  EXPECT_EQ(quotas.Of("bob").runs, 7u);
  EXPECT_EQ(quotas.Of("ann").runs, 9u);
  EXPECT_EQ(quotas.Of("ann").bytes_per_second, 1 << 20);
  EXPECT_EQ(quotas.Of("1000").streams, 1u);
  EXPECT_EQ(quotas.Of("1000").runs, 7u);
}

TEST(QuotasSection, SaysWhatIsWrongWithTheQuotasOfAUser) {
  const auto config = ParseConfig(
      "quotas: {runs: 0, users: {ann: {rums: 9, op_bytes: 5}, bob: 3}}",
      "f.yaml");
  ASSERT_FALSE(config.ok());
  for (const char* key : {"quotas.runs", "quotas.users.ann.rums",
                          "quotas.users.ann.op_bytes", "quotas.users.bob"}) {
    EXPECT_THAT(config.error(), HasSubstr(key));
  }
}

}  // namespace
}  // namespace nanwatch
