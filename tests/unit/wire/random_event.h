// Random events in canonical form, for round trips.

#ifndef NANWATCH_TESTS_UNIT_WIRE_RANDOM_EVENT_H_
#define NANWATCH_TESTS_UNIT_WIRE_RANDOM_EVENT_H_

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "model/event.h"

namespace nanwatch {

class RandomEvents {
 public:
  explicit RandomEvents(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Coin() { return Below(2) == 0; }

  double Number() {
    switch (Below(6)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::infinity();
      case 3:
        return -0.0;
      default:
        return std::ldexp(1.0 + static_cast<double>(Below(1000)) / 1000,
                          static_cast<int>(Below(200)) - 100);
    }
  }

  Bitmap Bits(size_t rows) {
    Bitmap bits((rows + 7) / 8);
    bool any = false;
    for (size_t row = 0; row < rows; ++row) {
      if (Below(4) != 0) continue;
      bits[row / 8] |= static_cast<uint8_t>(1u << row % 8);
      any = true;
    }
    return any ? bits : Bitmap();
  }

  Column Numbers(size_t rows) {
    Column column;
    if (Coin()) column.absent = Bits(rows);
    for (size_t row = 0; row < rows; ++row) {
      column.values.push_back(TestBit(column.absent, row) ? 0 : Number());
    }
    return column;
  }

  SparseCounts Counts(size_t rows, uint64_t most) {
    SparseCounts counts;
    if (Coin()) counts.absent = Bits(rows);
    const uint64_t density = 1 + Below(5);
    for (size_t row = 0; row < rows; ++row) {
      if (TestBit(counts.absent, row) || Below(density) != 0) continue;
      counts.rows.push_back(static_cast<uint32_t>(row));
      counts.counts.push_back(1 + Below(most));
    }
    return counts;
  }

  StepColumns Steps(size_t rows) {
    StepColumns steps;
    for (size_t row = 0; row < rows; ++row) {
      steps.step.push_back(static_cast<int64_t>(Below(1 << 20)));
      steps.time.push_back(FromMicros(static_cast<int64_t>(Below(1ull << 52))));
    }
    for (auto& field : steps.field) {
      if (Coin()) field = Numbers(rows);
    }
    for (auto& flag : steps.flag) {
      if (Coin()) continue;
      flag.emplace();
      flag->absent = Bits(rows);
      flag->values = Bits(rows);
      for (size_t i = 0; i < flag->values.size(); ++i) {
        if (i < flag->absent.size()) {
          flag->values[i] &= static_cast<uint8_t>(~flag->absent[i]);
        }
      }
    }
    if (Coin()) steps.optimizers = {"generator", "discriminator"};
    for (size_t row = 0; row < rows; ++row) {
      if (!steps.optimizers.empty()) {
        steps.optimizer.push_back(static_cast<uint8_t>(Below(2)));
      }
      if (Below(8) == 0) {
        steps.float_status.push_back({static_cast<uint32_t>(row),
                                      {1, 0, 0, 0, 0, 0, 0, Coin() ? -7 : 0},
                                      Coin()});
      }
      if (Below(8) == 0) {
        const auto op = static_cast<uint32_t>(Below(9));
        steps.layer_scales.push_back(
            {static_cast<uint32_t>(row), op, Number()});
      }
    }
    if (Coin()) steps.replica_digest.assign(rows, random_());
    for (size_t row = Below(3); row < rows; row += 1 + Below(3)) {
      steps.batch_digests.push_back({static_cast<uint32_t>(row), random_()});
    }
    steps.request_id = Below(3);
    steps.seen = {.fresh_gradients = Coin(),
                  .rival_loss = Coin(),
                  .follows_rewards = Coin(),
                  .objective_moves = Coin()};
    return steps;
  }

  OpColumns Ops(size_t rows) {
    OpColumns ops;
    for (size_t row = 0; row < rows; ++row) {
      const bool same = row > 0 && Coin();
      if (same) {
        ++ops.groups.back().end;
      } else {
        ops.AddGroup(static_cast<int64_t>(Below(1 << 20)),
                     FromMicros(static_cast<int64_t>(Below(1ull << 52))));
      }
      ops.op.push_back(static_cast<uint32_t>(Below(65536)));
      ops.slot.push_back(static_cast<Slot>(Below(kSlots)));
      ops.elements.push_back(Below(10) == 0 ? 0 : (1 << 20) + Below(1 << 20));
    }
    for (auto& count : ops.count) {
      if (Coin()) count = Counts(rows, 1000);
    }
    for (auto& stat : ops.stat) {
      if (Coin()) continue;
      const Column numbers = Numbers(rows);
      stat.emplace();
      stat->absent = numbers.absent;
      stat->values.assign(numbers.values.begin(), numbers.values.end());
    }
    if (Coin()) ops.device_flag = Counts(rows, 2);
    if (Coin()) ops.digest.assign(rows, random_());
    for (size_t row = 0; row < rows; ++row) {
      if (Below(9) == 0) {
        const int first = static_cast<int>(Below(40)) - 30;
        ops.exponents.push_back(
            {static_cast<uint32_t>(row), first, {0, Below(99), 3}});
      }
    }
    for (size_t row = Below(3); row < rows; row += 1 + Below(3)) {
      ops.sketches.rows.push_back(static_cast<uint32_t>(row));
      for (size_t i = 0; i < kSketchSums; ++i) {
        ops.sketches.values.push_back(static_cast<float>(Below(1000)) - 500);
      }
    }
    const size_t sketches = ops.sketches.rows.size();
    if (sketches > 0 && Coin()) ops.sketches.nan = Counts(sketches, 5);
    if (sketches > 0 && Coin()) ops.sketches.inf = Counts(sketches, 5);
    ops.request_id = Below(3);
    return ops;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_WIRE_RANDOM_EVENT_H_
