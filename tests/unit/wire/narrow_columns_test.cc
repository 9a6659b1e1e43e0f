#include "wire/narrow_columns.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

// Steps of one column.
StepBatch Losses(std::vector<double> losses) {
  StepBatch batch;
  for (size_t row = 0; row < losses.size(); ++row) {
    batch.columns.step.push_back(static_cast<int64_t>(row));
    batch.columns.time.push_back(FromMicros(1));
  }
  batch.columns.field[static_cast<int>(StepField::kLoss)] =
      Column{std::move(losses), {}};
  return batch;
}

v1::StoredEvent Narrow(const StepBatch& batch) {
  Event event;
  event.body = batch;
  std::string bytes;
  EncodeEvent(event, &bytes, Floats::kNarrow);
  v1::StoredEvent stored;
  EXPECT_TRUE(stored.ParseFromString(bytes));
  return stored;
}

// Returns the bits of the losses.
std::vector<uint64_t> BitsOf(const StepBatch& batch) {
  std::vector<uint64_t> bits;
  for (const double loss :
       batch.columns.field[static_cast<int>(StepField::kLoss)]->values) {
    bits.push_back(std::bit_cast<uint64_t>(loss));
  }
  return bits;
}

std::vector<uint64_t> BitsAgain(const StepBatch& batch) {
  const Result<Event> back = DecodeEvent(Narrow(batch).SerializeAsString());
  if (!back.ok()) {
    ADD_FAILURE() << back.error();
    return {};
  }
  return BitsOf(std::get<StepBatch>(back->body));
}

TEST(NarrowColumnsTest, NumbersOfFp32TakeFourBytes) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> losses = {0.1f,     -0.0,      0x1p-149,    -1e38f,
                                      infinity, -infinity, std::nan("")};
  const v1::StoredEvent stored = Narrow(Losses(losses));
  EXPECT_EQ(stored.steps().loss().values_size(), 0);
  ASSERT_EQ(stored.narrow_size(), 1);
  EXPECT_EQ(stored.narrow(0).planes().size(), 4 * losses.size());
  EXPECT_EQ(BitsAgain(Losses(losses)), BitsOf(Losses(losses)));
}

TEST(NarrowColumnsTest, OtherNumbersAreNotRounded) {
  for (const double wide : {0.1, 1e300, 0x1p-150, 1 + 0x1p-24,
                            std::bit_cast<double>(0x7ff8000000000001)}) {
    EXPECT_EQ(Narrow(Losses({2, wide})).narrow_size(), 0) << wide;
    EXPECT_EQ(BitsAgain(Losses({2, wide})), BitsOf(Losses({2, wide})));
  }
}

TEST(NarrowColumnsTest, RefusesNarrowNumbersThatFitNoColumn) {
  const v1::StoredEvent good = Narrow(Losses({1, 2}));
  const auto refused = [&](auto damage) {
    v1::StoredEvent event = good;
    damage(&event);
    return !DecodeEvent(event.SerializeAsString()).ok();
  };
  EXPECT_FALSE(refused([](v1::StoredEvent*) {}));
  EXPECT_TRUE(refused([](v1::StoredEvent* e) {
    e->mutable_narrow(0)->mutable_planes()->pop_back();
  }));
  EXPECT_TRUE(refused([](v1::StoredEvent* e) {
    e->mutable_narrow(0)->mutable_planes()->resize(4);
  }));
  EXPECT_TRUE(refused([](v1::StoredEvent* e) {
    e->mutable_narrow(0)->set_field(kStepFields);
  }));
  EXPECT_TRUE(
      refused([](v1::StoredEvent* e) { e->mutable_narrow(0)->set_field(1); }));
  EXPECT_TRUE(refused([](v1::StoredEvent* e) {
    e->mutable_steps()->mutable_loss()->add_values(1);
  }));
  EXPECT_TRUE(
      refused([](v1::StoredEvent* e) { *e->add_narrow() = e->narrow(0); }));
  EXPECT_TRUE(refused([](v1::StoredEvent* e) { e->mutable_dropped(); }));
}

}  // namespace
}  // namespace nanwatch
