#include "client_lib/src/op_batch.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nanwatch.hpp>
#include <string>
#include <vector>

namespace nanwatch_client {
namespace {

using nanwatch::OpStatus;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::SizeIs;

std::vector<const nanwatch_op_status*> Pointers(
    const std::vector<OpStatus>& statuses) {
  std::vector<const nanwatch_op_status*> rows;
  for (const OpStatus& status : statuses) rows.push_back(&status);
  return rows;
}

OpStatus Row(int64_t step, int32_t op, uint64_t nan) {
  OpStatus row(step, op, NANWATCH_SLOT_OUTPUT);
  row.nan = nan;
  row.present = NANWATCH_OP_NAN;
  return row;
}

TEST(EncodeOpsTest, RowsAreGroupedByStep) {
  std::vector<OpStatus> rows = {Row(5, 3, 0), Row(5, 1, 0), Row(7, 1, 0)};
  rows[0].time_us = 1000;
  rows[1].time_us = 1001;
  rows[2].time_us = 1500;
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_THAT(batch.step_rows(), ElementsAre(2, 1));
  EXPECT_THAT(batch.step_deltas(), ElementsAre(5, 2));
  EXPECT_THAT(batch.time_us_deltas(), ElementsAre(1000, 500));
  EXPECT_THAT(batch.op_deltas(), ElementsAre(3, -2, 0));
  EXPECT_THAT(batch.slots(), ElementsAre(nanwatch::v1::SLOT_OUTPUT));
}

TEST(EncodeOpsTest, SlotsDifferOrAreOne) {
  std::vector<OpStatus> rows = {Row(5, 3, 0), Row(5, 1, 0)};
  rows[1].slot = NANWATCH_SLOT_PARAMETER;
  EXPECT_THAT(
      EncodeOps(Pointers(rows), {}, 0).slots(),
      ElementsAre(nanwatch::v1::SLOT_OUTPUT, nanwatch::v1::SLOT_PARAMETER));
}

TEST(EncodeOpsTest, CountsAreSparseWhileFew) {
  std::vector<OpStatus> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(Row(0, i, i == 0 || i == 7));
  rows[3].present = 0;
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_THAT(batch.nan().row_gaps(), ElementsAre(0, 7));
  EXPECT_THAT(batch.nan().counts(), ElementsAre(1, 1));
  EXPECT_EQ(batch.nan().absent(), std::string("\x08"));
  EXPECT_FALSE(batch.has_pos_inf()) << "not collected";
}

TEST(EncodeOpsTest, CountsAreDenseWhenMany) {
  const std::vector<OpStatus> rows = {Row(0, 0, 4), Row(0, 1, 0),
                                      Row(0, 2, 1ull << 40)};
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_THAT(batch.nan().row_gaps(), SizeIs(0));
  EXPECT_THAT(batch.nan().counts(), ElementsAre(4, 0, 1ull << 40));
}

TEST(EncodeOpsTest, AllHealthyIsAColumnWithoutContent) {
  const std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0)};
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_TRUE(batch.has_nan()) << "collected, and 0 everywhere";
  EXPECT_EQ(batch.nan().ByteSizeLong(), 0u);
}

TEST(EncodeOpsTest, ElementsOnlyWhereTheyAreNotTheShapes) {
  std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0), Row(0, 1, 0)};
  for (OpStatus& row : rows) row.present |= NANWATCH_OP_ELEMENTS;
  rows[0].elements = 48;
  rows[1].elements = 37;
  rows[2].elements = 12;
  const std::vector<uint64_t> shapes = {48, 12};
  const auto batch = EncodeOps(Pointers(rows), shapes, 0);
  EXPECT_THAT(batch.elements().row_gaps(), ElementsAre(1));
  EXPECT_THAT(batch.elements().counts(), ElementsAre(37));
}

TEST(EncodeOpsTest, NumbersKeepNanAndAbsentApart) {
  std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0)};
  rows[0].rms = NAN;
  rows[0].present |= NANWATCH_OP_RMS;
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_TRUE(std::isnan(batch.rms().values(0)));
  EXPECT_EQ(batch.rms().absent(), std::string("\x02"));
}

TEST(EncodeOpsTest, ExponentsAndFlagsKnowTheirRow) {
  static nanwatch_exponents exponents = {.first = -14, .size = 3, .counts = {}};
  exponents.counts[2] = 5;
  std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0), Row(0, 2, 0)};
  rows[1].exponents = &exponents;
  rows[2].DeviceFlag(16);
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  ASSERT_THAT(batch.exponents(), SizeIs(1));
  EXPECT_EQ(batch.exponents(0).row(), 1u);
  EXPECT_EQ(batch.exponents(0).first(), -14);
  EXPECT_THAT(batch.exponents(0).counts(), ElementsAre(0, 0, 5));
  EXPECT_THAT(batch.device_flag().row_gaps(), ElementsAre(2));
  EXPECT_THAT(batch.device_flag().counts(), ElementsAre(16));
  EXPECT_EQ(batch.device_flag().absent(), std::string("\x03"));
}

TEST(EncodeOpsTest, SketchesKnowTheirRow) {
  std::vector<float> sketch(NANWATCH_SKETCH_SUMS, 0.5f);
  sketch[3] = -2;
  std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0)};
  rows[1].sketch = sketch.data();
  const auto batch = EncodeOps(Pointers(rows), {}, 0);
  EXPECT_THAT(batch.sketches().rows(), ElementsAre(1));
  EXPECT_THAT(batch.sketches().values(), ElementsAreArray(sketch));
}

TEST(OpBatchRowsTest, CutsWhereABatchCannotSayMore) {
  std::vector<OpStatus> rows = {Row(0, 0, 0), Row(0, 1, 0), Row(0, 2, 0)};
  EXPECT_EQ(OpBatchRows(Pointers(rows), 2), 2u);
  rows[2].request_id = 1;
  EXPECT_EQ(OpBatchRows(Pointers(rows), 9), 2u);
  rows[0].present |= NANWATCH_OP_DIGEST;
  EXPECT_EQ(OpBatchRows(Pointers(rows), 9), 1u);
}

}  // namespace
}  // namespace nanwatch_client
