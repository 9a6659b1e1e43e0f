#include "engine/step_slice.h"

#include <gmock/gmock.h>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

TEST(StepSliceTest, EachRowStaysItself) {
  std::vector<Row> rows;
  for (int64_t step = 0; step < 20; ++step) {
    Row row{.step = step, .scale = 2.0 * static_cast<double>(step)};
    if (step % 3 != 0) row.loss = static_cast<double>(step);
    row.overflow = step % 4 == 0;
    rows.push_back(row);
  }
  StepColumns all = Columns(rows, kStart);
  all.float_status = {{.row = 2, .words = {1}}, {.row = 9, .words = {2}}};
  all.layer_scales = {{.row = 9, .op = 4, .scale = 8}};
  const StepColumns part = SliceRows(all, 5, 13);
  ASSERT_EQ(part.rows(), 8u);
  StepReader reader(part);
  StepRecord record;
  for (int64_t step = 5; reader.Next(&record); ++step) {
    EXPECT_EQ(record.step, step);
    EXPECT_EQ(record.get(StepField::kLossScale), 2.0 * step);
    EXPECT_EQ(record.has(StepField::kLoss), step % 3 != 0);
    EXPECT_EQ(record.is(StepFlag::kOverflow), step % 4 == 0);
    EXPECT_EQ(record.float_status != nullptr, step == 9);
    EXPECT_EQ(record.layer_scales.size(), step == 9 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace nanwatch
