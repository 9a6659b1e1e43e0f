// Each peer fires where its own documents say it does, and not before.

#include "tests/judge/peers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nanwatch {
namespace {

const Peer& Find(std::string_view name) {
  for (const Peer& peer : Peers()) {
    if (peer.name == name) return peer;
  }
  ADD_FAILURE() << name;
  return Peers()[0];
}

// Feeds `value` n times, alternating a little; true if any alarmed.
bool Feed(const PeerRule& rule, double value, int n) {
  bool any = false;
  for (int i = 0; i < n; ++i) {
    const double swing = (i % 2 == 0 ? 1 : -1) * 0.01 * value;
    if (rule(value + swing)) any = true;
  }
  return any;
}

TEST(PeersTest, ZScoreFiresBeyondThreeDeviations) {
  PeerRule rule = Find("W&B z-score, loss").make();
  EXPECT_FALSE(Feed(rule, 2, 100));
  EXPECT_FALSE(rule(2.05));  // 2.5 deviations of 0.02
  EXPECT_TRUE(rule(2.5));
}

TEST(PeersTest, TurbulenceFiresAboveOneAndAHalf) {
  PeerRule rule = Find("msprobe AnomalyTurbulence, norm").make();
  EXPECT_FALSE(Feed(rule, 2, 100));
  EXPECT_FALSE(rule(2.9));
  EXPECT_TRUE(rule(3.2));
  EXPECT_TRUE(rule(NAN));
}

TEST(PeersTest, AsdNeedsAThousandTimes) {
  PeerRule rule = Find("torch_npu ASD, norm").make();
  EXPECT_FALSE(Feed(rule, 1, 100));
  EXPECT_FALSE(rule(900));
  EXPECT_TRUE(rule(1500));  // 900 was suspect and is not learnt
  EXPECT_TRUE(rule(INFINITY));
}

TEST(PeersTest, MegatronComparesWithTheFirstHundred) {
  PeerRule rule = Find("Megatron-LM, loss").make();
  EXPECT_FALSE(Feed(rule, 10, 100));
  EXPECT_FALSE(Feed(rule, 1, 100));
  EXPECT_FALSE(rule(90));
  EXPECT_TRUE(rule(102));
}

TEST(PeersTest, LlmFoundryHasPatience) {
  PeerRule rule = Find("llm-foundry, loss").make();
  EXPECT_FALSE(Feed(rule, 2, 150));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(rule(6)) << i;
  EXPECT_TRUE(rule(6));
}

TEST(PeersTest, LlmFoundrySeesALossThatStaysHigh) {
  PeerRule rule = Find("llm-foundry, loss").make();
  EXPECT_FALSE(Feed(rule, 2, 250));
  EXPECT_FALSE(Feed(rule, 3, 40));
  EXPECT_TRUE(Feed(rule, 3, 20));
}

TEST(PeersTest, MetaseqFreezesItsMean) {
  PeerRule rule = Find("metaseq, loss").make();
  EXPECT_FALSE(Feed(rule, 2, 50));
  EXPECT_FALSE(rule(3.5));
  EXPECT_TRUE(rule(6));
  EXPECT_TRUE(rule(6));
}

}  // namespace
}  // namespace nanwatch
