#include "compare/compared_run.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

Event Opened(int32_t attempt = 0) {
  Event event;
  event.run = {"a", attempt};
  event.body = RunOpened{};
  return event;
}

Event Named(int32_t rank, const OpName& name) {
  Event event;
  event.rank = rank;
  event.session = static_cast<SessionId>(rank + 1);
  event.body = OpNamesAdded{{.first_index = 0, .ops = {name}}};
  return event;
}

// One tensor of op 0.
Event Tensor(int32_t rank, int64_t step, uint64_t digest, float sum) {
  Event event;
  event.rank = rank;
  event.session = static_cast<SessionId>(rank + 1);
  OpBatch batch;
  batch.columns.AddGroup(step, Time{});
  batch.columns.op = {0};
  batch.columns.slot = {Slot::kParameter};
  batch.columns.elements = {4};
  batch.columns.digest = {digest};
  batch.columns.sketches.rows = {0};
  batch.columns.sketches.values.assign(kSketchSums, sum);
  event.body = batch;
  return event;
}

TEST(RunCollectorTest, PartsOfRanksAddUp) {
  OpName part;
  part.name = "fc.weight";
  part.part = true;
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(Named(0, part));
  collector.Take(Named(1, part));
  collector.Take(Tensor(1, 5, UINT64_MAX, 1.5f));
  collector.Take(Tensor(0, 5, 3, 2.0f));
  const ComparedRun run = collector.Finish();
  ASSERT_EQ(run.tensors.size(), 1u);
  EXPECT_EQ(run.tensors[0].digest, 2u);
  EXPECT_EQ((*run.tensors[0].sketch)[7], 3.5f);
  EXPECT_FALSE(run.tensors[0].nan);
}

TEST(RunCollectorTest, TakesWhatIsNotFinite) {
  Event counted = Tensor(0, 5, 3, 2.0f);
  auto& columns = std::get<OpBatch>(counted.body).columns;
  columns.sketches.nan = SparseCounts{.rows = {0}, .counts = {7}, .absent = {}};
  columns.sketches.inf.emplace();
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(Named(0, {.name = "fc.weight"}));
  collector.Take(counted);
  const ComparedRun run = collector.Finish();
  ASSERT_EQ(run.tensors.size(), 1u);
  EXPECT_EQ(run.tensors[0].nan, 7u);
  EXPECT_EQ(run.tensors[0].inf, 0u);
}

TEST(RunCollectorTest, OfWholeTensorsTheLowestRanksCount) {
  OpName whole;
  whole.name = "fc.weight";
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(Named(3, whole));
  collector.Take(Named(2, whole));
  collector.Take(Tensor(3, 5, 30, 0));
  collector.Take(Tensor(2, 5, 20, 0));
  const ComparedRun run = collector.Finish();
  ASSERT_EQ(run.tensors.size(), 1u);
  EXPECT_EQ(run.tensors[0].digest, 20u);
}

TEST(RunCollectorTest, KeepsStepsWithTheirBatches) {
  Event event;
  event.rank = 0;
  StepBatch batch;
  batch.columns.step = {4, 5, 6};
  batch.columns.time.assign(3, Time{});
  batch.columns.field[static_cast<int>(StepField::kLoss)] =
      Column{.values = {3, 2, 1}, .absent = {}};
  batch.columns.batch_digests = {{0, 44}, {2, 66}};
  event.body = batch;
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(event);
  const ComparedRun run = collector.Finish();
  ASSERT_EQ(run.steps.size(), 3u);
  EXPECT_EQ(run.steps[0].batch, 44u);
  EXPECT_EQ(run.steps[1].batch, std::nullopt);
  EXPECT_EQ(run.steps[2].batch, 66u);
  EXPECT_EQ(run.steps[2].loss, 1.0);
}

TEST(RunCollectorTest, AnotherAttemptBeginsAnew) {
  OpName whole;
  whole.name = "fc.weight";
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(Named(0, whole));
  collector.Take(Tensor(0, 5, 30, 0));
  collector.Take(Opened(1));
  const ComparedRun run = collector.Finish();
  EXPECT_EQ(run.key.attempt, 1);
  EXPECT_TRUE(run.tensors.empty());
}

// What an event of a torn history may say.
TEST(RunCollectorTest, LeavesOutTensorsWithoutAName) {
  RunCollector collector;
  collector.Take(Opened());
  collector.Take(Tensor(0, 5, 30, 0));
  EXPECT_TRUE(collector.Finish().tensors.empty());
}

}  // namespace
}  // namespace nanwatch
