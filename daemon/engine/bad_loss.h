// BadLoss: whether a loss that was not finite may be what harms the updates of
// a run. It is until the rank that told it, the last one if several did, has
// had six in a row that went well, or is gone.

#ifndef NANWATCH_ENGINE_BAD_LOSS_H_
#define NANWATCH_ENGINE_BAD_LOSS_H_

#include <cmath>
#include <cstdint>

#include "model/step.h"

namespace nanwatch {

// Trivially copyable.
class BadLoss {
 public:
  // Takes in a record; `harmed`: it overflowed, or its update was lost.
  void Add(int32_t rank, const StepRecord& record, bool harmed) {
    if (!record.has(StepField::kLoss)) return;
    if (!std::isfinite(record[StepField::kLoss])) {
      rank_ = rank;
      well_ = 0;
    } else if (rank == rank_) {
      well_ = harmed ? 0 : well_ + 1;
      if (well_ == kOver) rank_ = -1;
    }
  }

  // Forgets a rank that says nothing more.
  void Left(int32_t rank) {
    if (rank == rank_) rank_ = -1;
  }

  bool Lasts() const { return rank_ >= 0; }

 private:
  static constexpr int kOver = 6;

  int32_t rank_ = -1;  // that told the newest; -1: none lasts
  int32_t well_ = 0;   // its records in a row, since
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_BAD_LOSS_H_
