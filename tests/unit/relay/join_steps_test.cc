#include "relay/join_steps.h"

#include <gmock/gmock.h>

#include "engine/step_slice.h"
#include "tests/unit/engine/driver.h"
#include "wire/step_codec.h"

namespace nanwatch {
namespace {

std::string Bytes(const StepColumns& columns) {
  v1::StepBatch batch;
  WriteSteps(columns, &batch);
  return batch.SerializeAsString();
}

TEST(JoinStepsTest, PartsAreTheBatchAgainWhereverItWasCut) {
  std::vector<Row> rows;
  for (int64_t step = 0; step < 21; ++step) {
    Row row{.step = step, .scale = 2.0 * static_cast<double>(step)};
    if (step % 3 != 0) row.loss = static_cast<double>(step);
    if (step % 5 != 0) row.overflow = step % 4 == 0;
    rows.push_back(row);
  }
  StepColumns all = Columns(rows, kStart);
  all.optimizers = {"g", "d"};
  for (size_t row = 0; row < all.rows(); ++row) {
    all.optimizer.push_back(row % 2);
    all.replica_digest.push_back(row * 77);
  }
  all.float_status = {{.row = 2, .words = {1}}, {.row = 9, .words = {2}}};
  all.layer_scales = {{.row = 9, .op = 4, .scale = 8}};
  all.batch_digests = {{.row = 20, .digest = 5}};
  const std::string whole = Bytes(all);
  for (size_t first = 1; first < 20; ++first) {
    for (size_t second = first + 1; second < 21; ++second) {
      StepColumns joined;
      JoinSteps(SliceRows(all, 0, first), &joined);
      JoinSteps(SliceRows(all, first, second), &joined);
      JoinSteps(SliceRows(all, second, all.rows()), &joined);
      ASSERT_EQ(Bytes(joined), whole) << first << ' ' << second;
    }
  }
}

}  // namespace
}  // namespace nanwatch
