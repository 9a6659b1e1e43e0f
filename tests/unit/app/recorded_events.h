// Events of a recorded run, row by row.

#ifndef NANWATCH_TESTS_UNIT_APP_RECORDED_EVENTS_H_
#define NANWATCH_TESTS_UNIT_APP_RECORDED_EVENTS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "model/event.h"

namespace nanwatch {

inline Event OfRun(const RunKey& run, EventBody body, int32_t rank = -1) {
  Event event;
  event.run = run;
  event.rank = rank;
  event.session = static_cast<SessionId>(rank + 1);
  event.body = std::move(body);
  return event;
}

inline Event RankOpens(const RunKey& run, int32_t rank = 0) {
  RankOpened opened;
  opened.rank.rank = rank;
  return OfRun(run, opened, rank);
}

// Rows of one batch: a second a step.
class Rows {
 public:
  Rows& Add(int64_t step, std::optional<double> scale,
            std::optional<bool> overflow, double loss = 1) {
    const size_t row = columns_.rows();
    columns_.step.push_back(step);
    columns_.time.push_back(Time(std::chrono::seconds(1'000'000'000 + step)));
    Put(StepField::kLoss, row, loss);
    Put(StepField::kLossScale, row, scale);
    auto& flags = columns_.flag[static_cast<int>(StepFlag::kOverflow)];
    if (!flags) flags.emplace();
    SetBit(&flags->values, row, overflow.value_or(false));
    SetBit(&flags->absent, row, !overflow.has_value());
    return *this;
  }
  Event Of(const RunKey& run, int32_t rank = 0) {
    StepBatch batch;
    batch.columns = std::exchange(columns_, {});
    return OfRun(run, std::move(batch), rank);
  }

 private:
  static void SetBit(Bitmap* bits, size_t row, bool value) {
    bits->resize(row / 8 + 1);
    if (value) (*bits)[row / 8] |= 1 << row % 8;
  }
  void Put(StepField field, size_t row, std::optional<double> value) {
    auto& column = columns_.field[static_cast<int>(field)];
    if (!column) column.emplace();
    column->values.push_back(value.value_or(0));
    SetBit(&column->absent, row, !value.has_value());
  }

  StepColumns columns_;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_APP_RECORDED_EVENTS_H_
