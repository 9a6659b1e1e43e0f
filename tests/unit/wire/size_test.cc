// What records weigh on the wire, built as a client builds them.

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/wire/batch_builder.h"

namespace nanwatch {
namespace {

TEST(SizeTest, AStepOfAHundredWeighsAtMostFortyBytes) {
  v1::IngestRequest request = StepsRequest(100, 123456);
  v1::StepBatch* steps = request.mutable_steps();
  steps->set_session(0xfedcba9876543210);
  steps->set_step_deltas(0, 123456789);
  for (int row = 0; row < 100; ++row) {
    steps->mutable_loss()->add_values(2.0 / 3 + row);
    steps->mutable_loss_scale()->add_values(65536);
    steps->mutable_grad_norm()->add_values(std::sqrt(2.0 + row));
    steps->mutable_learning_rate()->add_values(1e-4 / 3);
    // An odd microsecond, so that no time is short by chance.
    if (row > 0) steps->set_time_us_deltas(row, 1'000'001 + row * 997);
  }
  steps->mutable_overflow()->set_values(std::string(13, '\xff'));
  steps->mutable_skipped()->set_values(std::string(13, '\xff'));
  EXPECT_LE(request.ByteSizeLong(), 4000u);
}

TEST(SizeTest, AHealthyOpStatusWeighsAtMostSixteenBytes) {
  v1::IngestRequest request = OpsRequest(1000, 123456);
  v1::OpBatch* ops = request.mutable_ops();
  ops->set_session(0xfedcba9876543210);
  ops->mutable_nan();
  ops->mutable_pos_inf();
  ops->mutable_neg_inf();
  ops->mutable_saturated();
  for (int row = 0; row < 1000; ++row) {
    ops->mutable_zero()->add_counts(1'000'000 + row);
    ops->mutable_subnormal()->add_counts(20'000 + row);
    ops->mutable_abs_max()->add_values(1.0f / 3);
  }
  EXPECT_LE(request.ByteSizeLong(), 16000u);
}

TEST(SizeTest, AnOpStatusWithEverythingWeighsAtMostFiftySixBytes) {
  v1::IngestRequest request = OpsRequest(1000, 123456);
  v1::OpBatch* ops = request.mutable_ops();
  ops->mutable_nan();
  ops->mutable_pos_inf();
  ops->mutable_neg_inf();
  ops->mutable_saturated();
  ops->mutable_device_flag();
  for (int row = 0; row < 1000; ++row) {
    ops->mutable_zero()->add_counts(1'000'000 + row);
    ops->mutable_subnormal()->add_counts(20'000 + row);
    for (v1::FloatColumn* column :
         {ops->mutable_min(), ops->mutable_max(), ops->mutable_abs_max(),
          ops->mutable_mean(), ops->mutable_rms(), ops->mutable_log2_mean(),
          ops->mutable_log2_std(), ops->mutable_fp8_amax(),
          ops->mutable_fp8_scale_inv()}) {
      column->add_values(1.0f / 3);
    }
    ops->add_digest(0x123456789abcdef);
  }
  EXPECT_LE(request.ByteSizeLong(), 56000u);
}

}  // namespace
}  // namespace nanwatch
