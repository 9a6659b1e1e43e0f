#include "engine/batch_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace nanwatch {
namespace {

using How = DataAgain::How;

// One job: each attempt goes on from what those before left.
class Job {
 public:
  // Batch `data` is that of step `begin`; epochs of `epoch` batches have one
  // order. After the first 64 steps each `each`th has a digest.
  std::optional<How> Attempt(int64_t begin, int64_t end, int64_t data,
                             int64_t each = 1, int64_t epoch = INT64_MAX) {
    BatchWatch watch;
    if (any_) watch.Continue(first_);
    for (int64_t step = begin; step < end; ++step) {
      if (step - begin >= 64 && step % each != 0) continue;
      const int64_t batch = (data + step - begin) % epoch;
      watch.Add(step, static_cast<uint64_t>(1000 + batch));
    }
    first_ = watch.first();
    any_ = true;
    if (watch.again() == nullptr) return std::nullopt;
    return watch.again()->how;
  }

 private:
  bool any_ = false;
  FirstBatches first_;
};

TEST(BatchWatch, DataFromTheStartAreSeenAndOthersAreNot) {
  Job job;
  EXPECT_EQ(job.Attempt(0, 200, 0), std::nullopt);
  EXPECT_EQ(job.Attempt(190, 260, 190), std::nullopt);
  EXPECT_EQ(job.Attempt(250, 300, 0), How::kAnew);
  EXPECT_EQ(job.Attempt(290, 320, 290), std::nullopt);
  EXPECT_EQ(job.Attempt(0, 100, 0), std::nullopt) << "a new training";
}

TEST(BatchWatch, WhereTheAttemptBeforeEndedAnEpochMayHave) {
  Job job;
  job.Attempt(0, 200, 0);
  EXPECT_EQ(job.Attempt(200, 260, 0), How::kNotSure);
}

TEST(BatchWatch, EpochsInOneOrderBeginWithTheSameData) {
  for (const int64_t each : {1, 4, 64}) {
    SCOPED_TRACE(each);
    Job job;
    job.Attempt(0, 330, 0, each, 100);
    EXPECT_EQ(job.Attempt(300, 500, 0, each, 100), std::nullopt);
    EXPECT_EQ(job.Attempt(450, 500, 0, each, 100), How::kInEpoch);
  }
}

TEST(BatchWatch, ALaterAttemptShowsTheEpochs) {
  Job job;
  job.Attempt(0, 60, 0, 1, 100);
  job.Attempt(60, 230, 60, 1, 100);
  EXPECT_EQ(job.Attempt(200, 240, 0, 1, 100), std::nullopt);
}

TEST(BatchWatch, ALaterAttemptGoesOnWithTheFirstBatches) {
  Job job;
  job.Attempt(0, 3, 0);
  job.Attempt(3, 210, 3);
  EXPECT_EQ(job.Attempt(203, 240, 0), How::kAnew);
}

TEST(BatchWatch, OfTwoOptimizersAStepHasOneBatch) {
  BatchWatch watch;
  for (int64_t step = 0; step < 100; ++step) {
    watch.Add(step, static_cast<uint64_t>(step));
    watch.Add(step, static_cast<uint64_t>(step) + 1'000'000);
  }
  BatchWatch next;
  next.Continue(watch.first());
  for (int64_t step = 0; step < 4; ++step) {
    EXPECT_EQ(next.again(), nullptr);
    next.Add(90 + step, static_cast<uint64_t>(step));
    next.Add(90 + step, static_cast<uint64_t>(step) + 1'000'000);
  }
  ASSERT_NE(next.again(), nullptr);
  EXPECT_EQ(next.again()->step, 90);
  EXPECT_EQ(next.again()->last, 93);
  EXPECT_EQ(next.again()->run_last, 3);
}

TEST(BatchWatch, OneBatchForAllSaysNothing) {
  BatchWatch watch;
  for (int64_t step = 0; step < 100; ++step) watch.Add(step, 7);
  BatchWatch next;
  next.Continue(watch.first());
  for (int64_t step = 90; step < 120; ++step) next.Add(step, 7);
  EXPECT_EQ(next.again(), nullptr);
}

}  // namespace
}  // namespace nanwatch
