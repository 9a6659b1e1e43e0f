#include "app/step_packer.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nanwatch {
namespace {

constexpr Time kStart{std::chrono::seconds(1000)};

// Long stretches without numbers, as between the step lines of a log.
StepRecord RandomRecord(int64_t step, std::mt19937* random) {
  StepRecord record;
  record.step = step;
  const bool quiet = (step / 20) % 2 == 1;
  for (int f = 0; f < kStepFields; ++f) {
    if (quiet || (*random)() % 3 != 0) continue;
    record.present |= 1u << f;
    record.value[f] = static_cast<double>((*random)() % 1000);
  }
  if ((*random)() % 8 == 0) return record;
  record.flags_present = (*random)() % 4;
  record.flags = static_cast<uint8_t>((*random)() & record.flags_present);
  return record;
}

void ExpectSame(const StepRecord& got, const StepRecord& record) {
  EXPECT_EQ(got.step, record.step);
  EXPECT_EQ(got.flags_present, record.flags_present);
  EXPECT_EQ(got.flags, record.flags);
  ASSERT_EQ(got.present, record.present);
  for (int f = 0; f < kStepFields; ++f) {
    const StepField field = static_cast<StepField>(f);
    EXPECT_EQ(got.get(field), record.get(field)) << Name(field);
  }
}

TEST(StepPacker, GivesBackWhatItWasGiven) {
  std::mt19937 random(7);
  StepPacker packer;
  for (int batch = 0; batch < 50; ++batch) {
    std::vector<StepRecord> records;
    const size_t rows = 1 + random() % 300;
    for (size_t i = 0; i < rows; ++i) {
      records.push_back(RandomRecord(static_cast<int64_t>(i), &random));
      packer.Add(records.back(), kStart, i % 2 == 0 ? "" : "second");
    }
    ASSERT_EQ(packer.rows(), rows);
    const StepColumns columns = packer.Take();
    EXPECT_EQ(packer.rows(), 0u);
    StepReader reader(columns);
    StepRecord got;
    for (size_t i = 0; i < rows; ++i) {
      ASSERT_TRUE(reader.Next(&got));
      EXPECT_EQ(columns.optimizers[got.optimizer], i % 2 == 0 ? "" : "second");
      ExpectSame(got, records[i]);
    }
    EXPECT_FALSE(reader.Next(&got));
  }
}

TEST(StepPacker, MakesColumnsOfFullLength) {
  StepPacker packer;
  StepRecord first;
  first.present = 1u << static_cast<int>(StepField::kLoss);
  first.flags_present = 1;
  packer.Add(first, kStart, "");
  for (int i = 0; i < 40; ++i) packer.Add(StepRecord(), kStart, "");
  const StepColumns columns = packer.Take();
  const auto& loss = columns.field[static_cast<int>(StepField::kLoss)];
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->values, std::vector<double>(41));
  EXPECT_EQ(loss->absent.size(), 6u);
  const auto& overflow = columns.flag[static_cast<int>(StepFlag::kOverflow)];
  ASSERT_TRUE(overflow);
  EXPECT_EQ(overflow->values.size(), 6u);
  EXPECT_EQ(overflow->absent, loss->absent);
  EXPECT_FALSE(columns.field[static_cast<int>(StepField::kGradNorm)]);
}

}  // namespace
}  // namespace nanwatch
