#include "history/picture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

constexpr int kLoss = static_cast<int>(StepField::kLoss);

class PictureTest : public HistoryFixture {
 protected:
  // Steps 0 .. rows - 1 of rank 0, in batches of uneven size.
  void PutSteps(int64_t rows) {
    Put(Opened(Job()));
    int size = 37;
    for (int64_t first = 0; first < rows; first += size) {
      size = first % 3 == 0 ? 37 : 101;
      Event event =
          Steps(Job(), first,
                static_cast<int>(std::min<int64_t>(size, rows - first)));
      PutAndCommit(std::move(event));
      put_.clear();
    }
    rows_ = rows;
  }

  std::vector<StepBucket> Draw(int points, int64_t from = INT64_MIN,
                               int64_t to = INT64_MAX) {
    StepQuery query;
    query.run = Job();
    query.points = points;
    query.from = from;
    query.to = to;
    auto drawn = Reader()->Steps(query);
    EXPECT_TRUE(drawn.ok()) << drawn.error();
    return drawn.ok() ? *drawn : std::vector<StepBucket>();
  }

  // Every step of [from, to] is in exactly one bucket, in order, and nothing of
  // it got lost.
  static void ExpectWhole(const std::vector<StepBucket>& buckets, int64_t from,
                          int64_t to) {
    int64_t next = from;
    uint64_t overflows = 0;
    for (const StepBucket& bucket : buckets) {
      ASSERT_EQ(bucket.first_step, next);
      next = bucket.last_step + 1;
      ASSERT_EQ(bucket.records,
                static_cast<uint64_t>(next - bucket.first_step));
      const StepBucket::Value& loss = bucket.value[kLoss];
      ASSERT_EQ(loss.count, bucket.records);
      ASSERT_EQ(loss.max, LossAt(bucket.first_step));
      ASSERT_EQ(loss.min, LossAt(bucket.last_step));
      ASSERT_EQ(loss.last, LossAt(bucket.last_step));
      overflows += bucket.overflows;
    }
    EXPECT_EQ(next, to + 1);
    uint64_t expected = 0;
    for (int64_t step = from; step <= to; ++step)
      expected += step % 1000 == 999;
    EXPECT_EQ(overflows, expected);
  }
  int64_t rows_ = 0;
};

TEST_F(PictureTest, FewStepsAreDrawnOneByOne) {
  PutSteps(500);
  const auto buckets = Draw(1000);
  EXPECT_EQ(buckets.size(), 500u);
  ExpectWhole(buckets, 0, 499);
}

TEST_F(PictureTest, ManyStepsAreDrawnFromTheLevels) {
  PutSteps(40'000);
  for (const int points : {1, 7, 100, 1000}) {
    const auto buckets = Draw(points);
    EXPECT_LE(buckets.size(), static_cast<size_t>(points));
    EXPECT_GE(buckets.size(), static_cast<size_t>(points + 9) / 10);
    ExpectWhole(buckets, 0, 39'999);
  }
}

TEST_F(PictureTest, TheEdgesAreExact) {
  PutSteps(20'000);
  for (const auto& [from, to] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0},
                                                {1, 19'998},
                                                {63, 64},
                                                {4095, 8193},
                                                {5001, 5002},
                                                {19'990, 19'999},
                                                {12'345, 17'777}}) {
    const auto buckets = Draw(50, from, to);
    EXPECT_LE(buckets.size(), 50u);
    ExpectWhole(buckets, from, to);
  }
  EXPECT_THAT(Draw(50, 30'000, 40'000), ::testing::IsEmpty());
}

TEST_F(PictureTest, LevelsGoOnAfterARestartAtAnyMoment) {
  Put(Opened(Job()));
  int64_t first = 0;
  for (int i = 0; i < 40; ++i) {
    const int size = 1 + i * 37 % 700;
    PutAndCommit(Steps(Job(), first, size));
    first += size;
    Open();
  }
  ExpectWhole(Draw(20), 0, first - 1);
  ExpectWhole(Draw(1000), 0, first - 1);
}

TEST(PictureBucketTest, RowsAtOnceAreAsRowsOneByOne) {
  constexpr size_t kRows = 64;
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(), INFINITY,
                        -INFINITY};
  for (size_t at = 0; at < 200; ++at) {
    StepColumns columns;
    Column& loss = columns.field[kLoss].emplace();
    for (size_t row = 0; row < kRows; ++row) {
      columns.step.push_back(static_cast<int64_t>(row * 37 % 50));
      columns.time.push_back(kStart + std::chrono::seconds(row * 11 % 60));
      loss.values.push_back(std::sin(static_cast<double>(at * kRows + row)));
    }
    if (at % 2 == 1) loss.values[at % kRows] = bad[at % 3];
    if (at % 5 == 4) loss.absent.assign(kRows / 8, 0x11);
    PlacedBucket whole;
    PlacedBucket one_by_one;
    AddRows(columns, 0, 0, &whole.bucket);
    AddRows(columns, 0, at % kRows, &whole.bucket);
    AddRows(columns, at % kRows, kRows, &whole.bucket);
    for (size_t row = 0; row < kRows; ++row) {
      AddRows(columns, row, row + 1, &one_by_one.bucket);
    }
    std::string bytes;
    std::string expected;
    EncodeBuckets({whole}, &bytes);
    EncodeBuckets({one_by_one}, &expected);
    EXPECT_EQ(bytes, expected) << at;
  }
}

TEST_F(PictureTest, OneBadStepIsSeenAtEveryLevel) {
  Put(Opened(Job()));
  for (int64_t first = 0; first < 10'000; first += 100) {
    Event event = Steps(Job(), first, 100);
    auto& loss = std::get<StepBatch>(event.body).columns.field[kLoss]->values;
    if (first == 4200) {
      loss[17] = std::numeric_limits<double>::quiet_NaN();
      loss[18] = std::numeric_limits<double>::infinity();
      loss[19] = -1e30;
    }
    PutAndCommit(std::move(event));
  }
  for (const int points : {1, 10, 1000}) {
    uint64_t nan = 0;
    uint64_t inf = 0;
    double lowest = 0;
    for (const StepBucket& bucket : Draw(points)) {
      nan += bucket.value[kLoss].nan;
      inf += bucket.value[kLoss].pos_inf;
      lowest = std::min(lowest, bucket.value[kLoss].min);
    }
    EXPECT_EQ(nan, 1u);
    EXPECT_EQ(inf, 1u);
    EXPECT_EQ(lowest, -1e30);
  }
}

TEST_F(PictureTest, RepeatedAndAbsentValuesCountAsTheyAre) {
  Put(Opened(Job()));
  Event event = Steps(Job(), 5, 4);
  StepColumns& columns = std::get<StepBatch>(event.body).columns;
  columns.step = {5, 5, 5, 6};
  columns.field[kLoss]->absent = {0b0010};
  columns.field[kLoss]->values[1] = 0;
  PutAndCommit(std::move(event));
  const auto one = Draw(1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].records, 4u);
  EXPECT_EQ(one[0].value[kLoss].count, 3u);
  EXPECT_EQ(Draw(10, 5, 5).size(), 3u);
  const auto& grad = one[0].value[static_cast<int>(StepField::kGradNorm)];
  EXPECT_EQ(grad.count, 0u);
}

// Two networks that take turns, and one whose optimizer has no name.
StepColumns Turns(int64_t first, int rows) {
  StepColumns columns;
  columns.optimizers = {"critic", "actor"};
  Column loss;
  for (int row = 0; row < rows; ++row) {
    columns.step.push_back(first + row);
    columns.time.push_back(kStart);
    columns.optimizer.push_back(row % 2);
    loss.values.push_back(row % 2 == 0 ? 0.5 : 8.0);
  }
  columns.field[kLoss] = std::move(loss);
  return columns;
}

const StepBucket::Value* LossOf(const StepBucket& bucket,
                                std::string_view optimizer) {
  for (const StepBucket::Part& part : bucket.parts) {
    if (part.optimizer == optimizer) return &part.value[kLoss];
  }
  return nullptr;
}

TEST(PictureBucketTest, OptimizersHaveTheirValuesApart) {
  StepColumns unnamed = Turns(0, 3);
  unnamed.optimizers.clear();
  unnamed.optimizer.clear();
  StepBucket first;
  AddRows(unnamed, 0, 3, &first);
  EXPECT_TRUE(first.parts.empty()) << "no record named its optimizer";
  StepBucket later;
  AddRows(Turns(3, 10), 0, 10, &later);
  EXPECT_EQ(LossOf(later, ""), nullptr);
  for (const bool at_once : {true, false}) {
    StepBucket whole;
    AddBucket(first, &whole);
    if (at_once) {
      AddRows(Turns(3, 10), 0, 10, &whole);
    } else {
      AddBucket(later, &whole);
    }
    AddBucket(first, &whole);
    EXPECT_EQ(whole.value[kLoss].count, 16u);
    ASSERT_EQ(whole.parts.size(), 3u);
    EXPECT_EQ(LossOf(whole, "")->count, 6u);
    EXPECT_EQ(LossOf(whole, "critic")->count, 5u);
    EXPECT_EQ(LossOf(whole, "critic")->max, 0.5);
    EXPECT_EQ(LossOf(whole, "actor")->min, 8.0);
  }
}

TEST(PictureBucketTest, PartsSurviveTheirCodec) {
  std::vector<PlacedBucket> buckets(3);
  for (PlacedBucket& placed : buckets) {
    AddRows(Turns(0, 4), 0, 4, &placed.bucket);
  }
  buckets[1].bucket.parts.clear();
  std::string bytes;
  EncodeBuckets(buckets, &bytes);
  std::vector<PlacedBucket> read;
  ASSERT_TRUE(DecodeBuckets(bytes, &read));
  ASSERT_EQ(read.size(), 3u);
  EXPECT_TRUE(read[1].bucket.parts.empty());
  ASSERT_EQ(read[2].bucket.parts.size(), 2u);
  EXPECT_EQ(LossOf(read[2].bucket, "actor")->last, 8.0);
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    read.clear();
    if (DecodeBuckets(std::string_view(bytes).substr(0, cut), &read)) {
      EXPECT_TRUE(read.size() < 3 || read[2].bucket.parts.empty()) << cut;
    }
  }
}

TEST_F(PictureTest, BucketsSurviveTheirCodec) {
  PlacedBucket bucket;
  bucket.place = 4096;
  bucket.bucket.first_step = -5;
  bucket.bucket.last_step = 1LL << 40;
  bucket.bucket.first = kStart;
  bucket.bucket.last = kStart + std::chrono::hours(1);
  bucket.bucket.records = 64;
  bucket.bucket.value[3] = {1, -0.0, 2, 3, 4, 5, 6};
  bucket.bucket.value[4].nan = 7;
  std::string bytes;
  EncodeBuckets({bucket, bucket}, &bytes);
  std::vector<PlacedBucket> read;
  ASSERT_TRUE(DecodeBuckets(bytes, &read));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].place, 4096u);
  EXPECT_EQ(read[1].bucket.first_step, -5);
  EXPECT_EQ(read[1].bucket.last_step, 1LL << 40);
  EXPECT_EQ(read[1].bucket.value[3].neg_inf, 6u);
  EXPECT_TRUE(std::signbit(read[1].bucket.value[3].min));
  EXPECT_EQ(read[1].bucket.value[4].nan, 7u);
  for (size_t cut = 1; cut < bytes.size() / 2; ++cut) {
    read.clear();
    EXPECT_FALSE(DecodeBuckets(std::string_view(bytes).substr(0, cut), &read));
  }
}

TEST_F(PictureTest, OpsComeWithTheirNamesNewestLast) {
  OpNamesAdded names;
  names.names.ops = {{"embed", "Embedding"}, {"loss/Log", "Log"}};
  Put({Opened(Job()), EventOf(Job(), names, 0)});
  for (int64_t step = 0; step < 10; ++step) {
    OpBatch batch;
    for (uint32_t op = 0; op < 3; ++op) {
      batch.columns.AddGroup(step, kStart);
      batch.columns.op.push_back(op);
      batch.columns.slot.push_back(Slot::kOutput);
      batch.columns.elements.push_back(16);
      batch.columns.digest.push_back(100 + op);
    }
    batch.columns.exponents = {{.row = 1, .first = -3, .counts = {4, 5}}};
    PutAndCommit(EventOf(Job(), batch, 0));
  }
  OpQuery query;
  query.run = Job();
  query.to = 8;
  query.rows = 4;
  const auto found = Reader()->Ops(query);
  ASSERT_TRUE(found.ok()) << found.error();
  const std::vector<OpRow>& rows = found->rows;
  EXPECT_EQ(found->from, 7);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].status.step, 8);
  EXPECT_EQ(rows[3].op.name, "op 2");
  EXPECT_EQ(rows[2].op.name, "loss/Log");
  EXPECT_EQ(rows[1].op.name, "embed");
  EXPECT_EQ(rows[0].status.step, 7);
  EXPECT_EQ(rows[3].digest, 102u);
  EXPECT_FALSE(rows[3].exponents);
  ASSERT_TRUE(rows[2].exponents);
  EXPECT_EQ(rows[2].exponents->first, -3);
  EXPECT_EQ(rows[2].exponents->counts, (std::vector<uint64_t>{4, 5}));
}

TEST_F(PictureTest, BadOpsAloneComeFromTheWholeRange) {
  OpNamesAdded names;
  names.names.ops = {{"embed", "Embedding"}, {"loss/Log", "Log"}};
  Put({Opened(Job()), EventOf(Job(), names, 0)});
  for (int64_t step = 0; step < 40; ++step) {
    OpBatch batch;
    for (uint32_t op = 0; op < 2; ++op) {
      batch.columns.AddGroup(step, kStart);
      batch.columns.op.push_back(op);
      batch.columns.slot.push_back(Slot::kOutput);
      batch.columns.elements.push_back(16);
    }
    if (step == 3) {
      batch.columns.count[static_cast<int>(OpCount::kNan)] =
          SparseCounts{{1}, {5}, {}};
    }
    PutAndCommit(EventOf(Job(), batch, 0));
  }
  OpQuery query;
  query.run = Job();
  query.rows = 10;
  query.bad_only = true;
  const auto found = Reader()->Ops(query);
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_EQ(found->rows.size(), 1u);
  EXPECT_EQ(found->rows[0].status.step, 3);
  EXPECT_EQ(found->rows[0].op.name, "loss/Log");
  EXPECT_FALSE(found->from) << "all of the range was looked at";
}

}  // namespace
}  // namespace nanwatch
