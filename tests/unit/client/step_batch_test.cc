#include "client_lib/src/step_batch.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nanwatch.hpp>
#include <string>
#include <vector>

namespace nanwatch_client {
namespace {

using nanwatch::Step;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<const nanwatch_step*> Pointers(const std::vector<Step>& steps) {
  std::vector<const nanwatch_step*> rows;
  for (const Step& step : steps) rows.push_back(&step);
  return rows;
}

TEST(EncodeStepsTest, FiveKindsOfNothingStayApart) {
  const std::vector<Step> steps = {Step(10).Loss(std::nan("")),
                                   Step(11).Loss(kInf), Step(11).Loss(-kInf),
                                   Step(12).GradNorm(3), Step(13).Loss(0)};
  const auto batch = EncodeSteps(Pointers(steps), {}, 99);
  EXPECT_EQ(batch.sent_time_us(), 99);
  EXPECT_THAT(batch.step_deltas(), ElementsAre(10, 1, 0, 1, 1));
  ASSERT_THAT(batch.loss().values(), SizeIs(5));
  EXPECT_TRUE(std::isnan(batch.loss().values(0)));
  EXPECT_EQ(batch.loss().values(1), kInf);
  EXPECT_EQ(batch.loss().values(2), -kInf);
  EXPECT_EQ(batch.loss().absent(), std::string("\x08"));
  EXPECT_EQ(batch.grad_norm().absent(), std::string("\x17"));
  EXPECT_FALSE(batch.has_loss_scale()) << "not collected";
}

TEST(EncodeStepsTest, FlagsAreBitsWithPresence) {
  std::vector<Step> steps;
  for (int i = 0; i < 10; ++i) {
    steps.push_back(Step(i));
    if (i != 4) steps.back().Overflow(i == 9);
  }
  const auto batch = EncodeSteps(Pointers(steps), {}, 0);
  EXPECT_EQ(batch.overflow().values(), std::string("\x00\x02", 2));
  EXPECT_EQ(batch.overflow().absent(), std::string("\x10"));
  EXPECT_FALSE(batch.has_skipped());
}

TEST(EncodeStepsTest, SparseThingsKnowTheirRow) {
  std::vector<Step> steps = {Step(0), Step(1)};
  const int32_t words[8] = {1, 0, 0, 0, 0, 0, 0, -2};
  steps[1].FloatStatus(words, 8);
  const std::vector<nanwatch_layer_scale> scales = {{4, 0, 1024}, {5, 0, 2}};
  steps[1].LayerScales(scales);
  const auto batch = EncodeSteps(Pointers(steps), {}, 0);
  ASSERT_THAT(batch.float_status(), SizeIs(1));
  EXPECT_EQ(batch.float_status(0).row(), 1u);
  EXPECT_THAT(batch.float_status(0).words(),
              ElementsAre(1, 0, 0, 0, 0, 0, 0, -2));
  EXPECT_THAT(batch.layer_scales().rows(), ElementsAre(1, 1));
  EXPECT_THAT(batch.layer_scales().ops(), ElementsAre(4, 5));
  EXPECT_THAT(batch.layer_scales().scales(), ElementsAre(1024, 2));
}

TEST(EncodeStepsTest, OptimizersAreNamedInTheBatch) {
  const std::vector<std::string> names = {"generator", "critic"};
  std::vector<Step> steps = {Step(0), Step(0), Step(1)};
  steps[0].optimizer = 2;
  steps[1].optimizer = 1;
  steps[2].optimizer = 2;
  const auto batch = EncodeSteps(Pointers(steps), names, 0);
  EXPECT_THAT(batch.optimizers(), ElementsAre("critic", "generator"));
  EXPECT_THAT(batch.optimizer(), ElementsAre(0, 1, 0));
}

TEST(StepBatchRowsTest, CutsWhereABatchCannotSayMore) {
  std::vector<Step> steps = {Step(0), Step(1), Step(2), Step(3)};
  EXPECT_EQ(StepBatchRows(Pointers(steps), 100), 4u);
  EXPECT_EQ(StepBatchRows(Pointers(steps), 3), 3u);
  steps[2].request_id = 9;
  EXPECT_EQ(StepBatchRows(Pointers(steps), 100), 2u);
  steps[1].ReplicaDigest(1);
  EXPECT_EQ(StepBatchRows(Pointers(steps), 100), 1u);
}

}  // namespace
}  // namespace nanwatch_client
