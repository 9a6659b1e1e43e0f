#include "push/moments.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kBegin = 1'700'000'000'000;  // ms

StampedEvent Batch(uint64_t id, int32_t rank, std::vector<int64_t> ms,
                   int32_t attempt = 0) {
  StepBatch batch;
  Column loss;
  for (const int64_t time : ms) {
    batch.columns.step.push_back(static_cast<int64_t>(loss.values.size()));
    batch.columns.time.push_back(FromMicros((kBegin + time) * 1000));
    loss.values.push_back(static_cast<double>(time));
  }
  batch.columns.field[static_cast<int>(StepField::kLoss)] = loss;
  StampedEvent stamped;
  stamped.id = id;
  stamped.now = FromMicros((kBegin + 100'000) * 1000);
  stamped.event.run = {"run", attempt};
  stamped.event.rank = rank;
  stamped.event.body = std::move(batch);
  return stamped;
}

StampedEvent Over(uint64_t id, int32_t rank, EventBody body) {
  StampedEvent stamped = Batch(id, rank, {});
  stamped.event.body = std::move(body);
  return stamped;
}

std::vector<int64_t> Times(const std::deque<Moment>& queue) {
  std::vector<int64_t> times;
  for (const Moment& moment : queue) times.push_back(moment.ms - kBegin);
  return times;
}

TEST(MomentsTest, ARecordIsAMomentAtItsOwnTime) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {0, 5, 9}), 0, &queue);
  EXPECT_THAT(Times(queue), ElementsAre(0, 5, 9));
  EXPECT_EQ(queue[1].value[static_cast<int>(StepField::kLoss)], 5);
  EXPECT_EQ(queue[1].value[kPushedStep], 1);
  EXPECT_EQ(queue[1].samples(), 2);
}

TEST(MomentsTest, EachIsLaterThanTheOneBefore) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {7, 7, 7, 5}), 0, &queue);
  EXPECT_THAT(Times(queue), ElementsAre(7, 8, 9, 10));
  moments.Take(Batch(2, 0, {-5000, 11}), 0, &queue);
  EXPECT_THAT(Times(queue), ElementsAre(7, 8, 9, 10, 11));
  EXPECT_EQ(moments.TakeUnordered(), 2u);
  EXPECT_EQ(moments.TakeUnordered(), 0u);
}

TEST(MomentsTest, NoneIsOfTheFuture) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {3'600'000}), 0, &queue);
  EXPECT_THAT(Times(queue), ElementsAre(100'000));
}

TEST(MomentsTest, RanksBeyondTheBoundHaveNoSeries) {
  Moments moments(2);
  std::deque<Moment> queue;
  for (int32_t rank = 0; rank < 4; ++rank) {
    moments.Take(Batch(1, rank, {1}), 0, &queue);
  }
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(moments.lanes().size(), 2u);
}

TEST(MomentsTest, AnAttemptIsALaneOfItsOwn) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {50}, 0), 0, &queue);
  moments.Take(Batch(2, 0, {20}, 1), 0, &queue);
  EXPECT_THAT(Times(queue), ElementsAre(50, 20));
}

TEST(MomentsTest, SeriesEndOnceAndTheLaneWithItsRun) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {1}), 0, &queue);
  moments.Take(Batch(2, 1, {1}), 0, &queue);
  moments.Take(Over(3, 0, RankClosed{}), 0, &queue);
  ASSERT_EQ(queue.size(), 3u);
  EXPECT_TRUE(queue.back().ends);
  EXPECT_EQ(queue.back().lane->key.rank, 0);
  EXPECT_EQ(queue.back().samples(), 2);
  moments.Take(Over(4, -1, RunClosed{}), 0, &queue);
  int ended = 0;
  for (const Moment& moment : queue) {
    ended += moment.ends ? moment.samples() : 0;
    moments.Done(moment);
  }
  EXPECT_EQ(ended, 4);
  EXPECT_THAT(moments.lanes(), IsEmpty());
}

TEST(MomentsTest, GoesOnWhereACursorSays) {
  Moments moments(64);
  std::deque<Moment> queue;
  moments.Take(Batch(1, 0, {3, 3, 3}), 0, &queue);
  moments.Done(queue[0]);
  Moments again(64);
  for (const auto& [key, lane] : moments.lanes()) again.Know(*lane);
  std::deque<Moment> rest;
  again.Take(Batch(1, 0, {3, 3, 3}), 1, &rest);
  queue.pop_front();
  EXPECT_EQ(Times(rest), Times(queue));
}

}  // namespace
}  // namespace nanwatch
