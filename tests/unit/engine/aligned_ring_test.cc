#include "engine/aligned_ring.h"

#include <gmock/gmock.h>

#include <map>

#include "model/limits.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

// Ranks that walk along a ring.
class Walk {
 public:
  explicit Walk(std::vector<int32_t> ranks) {
    for (const int32_t rank : ranks) places_[rank];
  }
  void Step(int32_t rank, int64_t step, double scale = 1, Time time = kStart) {
    StepRecord record;
    record.step = step;
    record.time = time;
    record.present = 1u << static_cast<int>(StepField::kLossScale);
    record.value[static_cast<int>(StepField::kLossScale)] = scale;
    const Place was = places_[rank];
    places_[rank] = was.Next(step);
    ring.Add(was, places_[rank], rank, record, Fate::kUnknown,
             [&] { return Places(); });
  }
  std::vector<Place> Places() const {
    std::vector<Place> places;
    for (const auto& [rank, place] : places_) places.push_back(place);
    return places;
  }
  void Remove(int32_t rank) {
    ring.Leave(places_[rank]);
    places_.erase(rank);
  }
  void Join(int32_t rank, Place at = {}) {
    places_[rank] = at;
    ring.Join(at);
  }
  // The steps that are judged now.
  std::vector<AlignedStep> Judged(Time now = kStart) {
    std::vector<AlignedStep> all;
    while (auto judged = ring.Next(static_cast<int32_t>(places_.size()), now)) {
      all.push_back(judged->step);
    }
    return all;
  }
  AlignedRing ring;

 private:
  std::map<int32_t, Place> places_;
};

TEST(AlignedRingTest, JudgesWhenAllHavePassed) {
  Walk walk({0, 1});
  walk.Step(0, 5, 1024);
  EXPECT_TRUE(walk.Judged().empty());
  walk.Step(1, 5, 512);
  const auto judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].seen, 2);
  EXPECT_EQ(judged[0].scale.min, 512);
  EXPECT_EQ(judged[0].scale.min_rank, 1);
  EXPECT_EQ(judged[0].scale.max_rank, 0);
  EXPECT_EQ(judged[0].scale.at_min + judged[0].scale.at_max,
            judged[0].scale.count);
  EXPECT_TRUE(walk.Judged().empty());
}

TEST(AlignedRingTest, TriesOfOneStepAreApart) {
  Walk walk({0, 1});
  walk.Step(0, 5, 1024);
  walk.Step(0, 5, 512);
  walk.Step(1, 5, 1024);
  auto judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].scale.min, judged[0].scale.max);
  walk.Step(1, 5, 512);
  judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].try_of_step, 1);
}

TEST(AlignedRingTest, RankThatPassesByIsNotCollected) {
  Walk walk({0, 1});
  walk.Step(0, 5);
  walk.Step(1, 6);
  auto judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].step, 5);
  EXPECT_EQ(judged[0].seen, 1);
  walk.Step(0, 6);
  judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].seen, 2);
}

TEST(AlignedRingTest, DoesNotWaitForWhoIsFarBehind) {
  Walk walk({0, 1});
  for (int64_t step = 0; step < limits::kAlignedLeadSteps; ++step) {
    walk.Step(0, step);
  }
  EXPECT_TRUE(walk.Judged().empty());
  walk.Step(0, limits::kAlignedLeadSteps);
  const auto judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].step, 0);
  // What comes for it now is too late.
  walk.Step(1, 0);
  EXPECT_TRUE(walk.Judged().empty());
}

TEST(AlignedRingTest, DoesNotWaitLongerThanAMinute) {
  Walk walk({0, 1});
  walk.Step(0, 5);
  EXPECT_EQ(walk.ring.Due(), kStart + std::chrono::seconds(60));
  EXPECT_TRUE(walk.Judged(kStart + std::chrono::seconds(59)).empty());
  EXPECT_EQ(walk.Judged(kStart + std::chrono::seconds(60)).size(), 1u);
}

TEST(AlignedRingTest, DoesNotWaitForTheLost) {
  Walk walk({0, 1, 2});
  walk.Step(0, 5);
  walk.Step(1, 5);
  EXPECT_TRUE(walk.Judged().empty());
  walk.Remove(2);
  EXPECT_EQ(walk.Judged().size(), 1u);
}

TEST(AlignedRingTest, WaitsForWhoComesBackFromWhereHeStood) {
  Walk walk({0, 1, 2});
  for (int64_t step = 5; step <= 7; ++step) walk.Step(0, step);
  walk.Step(1, 5);
  walk.Step(1, 6);
  walk.Step(1, 7);
  walk.Step(2, 5);
  const Place stood = Place{}.Next(5);
  EXPECT_EQ(walk.Judged().size(), 1u);
  walk.Remove(2);
  walk.Join(2, stood);
  EXPECT_TRUE(walk.Judged().empty());
  walk.Step(2, 6);
  auto judged = walk.Judged();
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].step, 6);
  EXPECT_EQ(judged[0].seen, 3);
  // A new one has been nowhere yet.
  walk.Join(3);
  walk.Step(2, 7);
  EXPECT_TRUE(walk.Judged().empty());
  walk.Step(3, 7);
  EXPECT_EQ(walk.Judged().size(), 1u);
}

}  // namespace
}  // namespace nanwatch
