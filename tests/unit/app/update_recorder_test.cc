#include "app/update_recorder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "tests/unit/app/recorded_events.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;

const RunKey kRun{"job", 0};

std::vector<double> ScalesOf(const RecordedRun& run) {
  std::vector<double> scales;
  for (const RecordedUpdate& a : run.updates) scales.push_back(a.scale);
  return scales;
}

// An op of each rank: a gradient in fp16 whose largest value is `abs_max`.
Event Gradient(int64_t step, float abs_max, int32_t rank = 0) {
  OpBatch batch;
  OpColumns& c = batch.columns;
  c.AddGroup(step, Time(std::chrono::seconds(1'000'000'000 + step)));
  c.op = {0};
  c.slot = {Slot::kGradOutput};
  c.elements = {1000};
  c.stat[static_cast<int>(OpStat::kAbsMax)] = OpStatColumn{{abs_max}, {}};
  // All of 2^-20 and more: the scale may fall by 2^4.
  ExponentCounts exponents;
  exponents.row = 0;
  exponents.first = -20;
  exponents.counts = {1000};
  c.exponents = {exponents};
  return OfRun(kRun, std::move(batch), rank);
}

Event Names(int32_t rank = 0) {
  OpNamesAdded added;
  added.names.ops.resize(1);
  added.names.ops[0].name = "fc";
  added.names.ops[0].dtype = Dtype::kFp16;
  return OfRun(kRun, added, rank);
}

TEST(UpdateRecorderTest, ARecordHasTheScaleOfItsUpdate) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  Rows rows;
  rows.Add(0, 64, true).Add(1, 32, false).Add(2, 32, true).Add(3, 16, false);
  recorder.Take(rows.Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(runs[0].order_shown);
  EXPECT_THAT(ScalesOf(runs[0]), ElementsAre(64, 32, 32, 16));
  EXPECT_TRUE(runs[0].updates[2].overflow);
  EXPECT_TRUE(runs[0].updates[2].skipped);
  EXPECT_FALSE(runs[0].updates[3].skipped);
}

// Megatron-LM forgives the first overflow: its scale stands where it began.
TEST(UpdateRecorderTest, TheFirstScaleIsNoneThatNobodyTried) {
  UpdateRecorder recorder;
  RunOpened opened;
  opened.description.scaler.kind = ScalingKind::kDynamic;
  opened.description.scaler.name = "megatron";
  recorder.Take(OfRun(kRun, opened));
  Rows rows;
  rows.Add(0, 4294967296.0, true).Add(1, 2147483648.0, true);
  rows.Add(2, 2147483648.0, false).Add(3, 1073741824.0, true);
  recorder.Take(rows.Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(runs[0].order_shown);
  EXPECT_EQ(ScalesOf(runs[0])[0], 4294967296.0);
}

TEST(UpdateRecorderTest, OrTheOneAfterItAsFallsShow) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  Rows rows;
  rows.Add(0, 64, false).Add(1, 32, true).Add(2, 32, false).Add(3, 16, true);
  recorder.Take(rows.Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  EXPECT_TRUE(runs[0].order_shown);
  EXPECT_THAT(ScalesOf(runs[0]), ElementsAre(64, 64, 32, 32));
}

TEST(UpdateRecorderTest, AScaleThatARecordLacksIsTheOneBefore) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  Rows rows;
  rows.Add(0, {}, false).Add(1, 64, false).Add(2, {}, false).Add(3, 64, false);
  recorder.Take(rows.Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  EXPECT_EQ(runs[0].without_scale, 1u);
  EXPECT_FALSE(runs[0].order_shown);
  EXPECT_THAT(ScalesOf(runs[0]), ElementsAre(64, 64, 64));
}

TEST(UpdateRecorderTest, NoScalingDeclaredIsAScaleOfOne) {
  UpdateRecorder recorder;
  RunOpened opened;
  opened.description.scaler.kind = ScalingKind::kNone;
  recorder.Take(OfRun(kRun, opened));
  recorder.Take(Rows().Add(0, {}, false).Add(1, {}, true).Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  EXPECT_THAT(ScalesOf(runs[0]), ElementsAre(1, 1));
  EXPECT_TRUE(runs[0].updates[1].overflow);
}

TEST(UpdateRecorderTest, WithoutAnyScaleThereIsNoUpdate) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  recorder.Take(Rows().Add(0, {}, false).Add(1, {}, true).Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  EXPECT_TRUE(runs[0].updates.empty());
  EXPECT_EQ(runs[0].without_scale, 2u);
}

TEST(UpdateRecorderTest, GradientsSayWhichScalesFit) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  recorder.Take(Names());
  recorder.Take(Gradient(0, 65504.0f / 4));
  recorder.Take(Rows().Add(0, 1024, false).Add(1, 1024, false).Of(kRun));
  const std::vector<RecordedRun> runs = recorder.Finish();
  const RecordedRun& run = runs[0];
  EXPECT_EQ(run.with_gradients, 1u);
  EXPECT_NEAR(run.updates[0].fits_up_to, 4096, 0.1);
  EXPECT_NEAR(run.updates[0].needs, 64, 1e-6);
  EXPECT_TRUE(std::isnan(run.updates[1].fits_up_to));
}

TEST(UpdateRecorderTest, TheRankWithTheLargestGradientDecides) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  for (const int32_t rank : {1, 0}) {
    recorder.Take(Names(rank));
    recorder.Take(Gradient(0, rank == 0 ? 1.0f : 65504.0f / 2, rank));
    recorder.Take(Rows().Add(0, 1024, false).Of(kRun, rank));
  }
  const std::vector<RecordedRun> runs = recorder.Finish();
  EXPECT_EQ(runs[0].rank, 0);
  EXPECT_NEAR(runs[0].updates[0].fits_up_to, 2048, 0.1);
}

TEST(UpdateRecorderTest, ARankWithoutGradientsKeepsThoseOfOthers) {
  UpdateRecorder recorder;
  recorder.Take(OfRun(kRun, RunOpened{}));
  recorder.Take(Rows().Add(0, 1024, false).Add(0, 512, false).Of(kRun, 0));
  recorder.Take(Names(1));
  recorder.Take(Rows().Add(0, 1024, false).Of(kRun, 1));
  recorder.Take(Gradient(0, 65504.0f, 1));
  recorder.Take(Rows().Add(0, 512, false).Of(kRun, 1));
  const std::vector<RecordedRun> runs = recorder.Finish();
  // Of the second try of the step, not of the first.
  EXPECT_TRUE(std::isnan(runs[0].updates[0].fits_up_to));
  EXPECT_NEAR(runs[0].updates[1].fits_up_to, 512, 0.1);
}

}  // namespace
}  // namespace nanwatch
