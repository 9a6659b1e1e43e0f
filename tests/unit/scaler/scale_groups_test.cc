#include "scaler/scale_groups.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The least number of points that stab all, by trying.
int Least(const std::vector<ScaleInterval>& layers, size_t points) {
  for (int wanted = 1;; ++wanted) {
    std::vector<int> at(static_cast<size_t>(wanted), 0);
    while (true) {
      if (std::all_of(layers.begin(), layers.end(), [&](const auto& l) {
            return std::any_of(at.begin(), at.end(), [&](int p) {
              return l.low <= p && p <= l.high;
            });
          })) {
        return wanted;
      }
      size_t i = 0;
      while (i < at.size() && ++at[i] == static_cast<int>(points)) at[i++] = 0;
      if (i == at.size()) break;
    }
  }
}

TEST(GroupScales, OneDoesWhereAllMeet) {
  const std::vector<ScaleInterval> layers = {{0, 10}, {4, 20}, {-8, 7}};
  const ScaleGroups found = GroupScales(layers);
  ASSERT_THAT(found.groups, SizeIs(1));
  EXPECT_EQ(found.groups[0].low, 4);
  EXPECT_EQ(found.groups[0].high, 7);
  EXPECT_EQ(found.groups[0].log2_scale, 5);
  EXPECT_THAT(found.groups[0].members, ElementsAre(0, 1, 2));
}

TEST(GroupScales, NamesWhatNoScaleSuits) {
  const std::vector<ScaleInterval> layers = {{0, 10}, {4, 3}};
  const ScaleGroups found = GroupScales(layers);
  EXPECT_THAT(found.too_wide, ElementsAre(1));
  EXPECT_THAT(found.groups, SizeIs(1));
  EXPECT_THAT(GroupScales({}).groups, IsEmpty());
}

TEST(GroupScales, TakesAPowerOfTwoIfOneIsBetween) {
  const std::vector<ScaleInterval> narrow = {{4.2, 4.6}};
  EXPECT_NEAR(GroupScales(narrow).groups[0].log2_scale, 4.4, 1e-9);
  const std::vector<ScaleInterval> wider = {{4.2, 5.1}};
  EXPECT_EQ(GroupScales(wider).groups[0].log2_scale, 5);
}

TEST(GroupScales, AsFewAsCanBeAndEachWithin) {
  std::mt19937_64 random(3);
  constexpr int kPoints = 12;
  for (int round = 0; round < 300; ++round) {
    std::vector<ScaleInterval> layers(2 + random() % 6);
    for (ScaleInterval& layer : layers) {
      layer.low = static_cast<double>(random() % kPoints);
      layer.high = std::min<double>(
          kPoints - 1, layer.low + static_cast<double>(random() % 4));
    }
    const ScaleGroups found = GroupScales(layers);
    ASSERT_EQ(static_cast<int>(found.groups.size()), Least(layers, kPoints));
    for (const ScaleGroup& group : found.groups) {
      for (const size_t i : group.members) {
        EXPECT_GE(group.log2_scale, layers[i].low);
        EXPECT_LE(group.log2_scale, layers[i].high);
      }
    }
  }
}

}  // namespace
}  // namespace nanwatch
