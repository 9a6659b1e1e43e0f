// BatchWatch: whether an attempt of a run takes its data from the start. For
// rank 0: others are given other parts of the same order.

#ifndef NANWATCH_ENGINE_BATCH_WATCH_H_
#define NANWATCH_ENGINE_BATCH_WATCH_H_

#include <cstdint>
#include <optional>

#include "engine/state_fields.h"
#include "model/first_batches.h"

namespace nanwatch {

class BatchWatch {
 public:
  // The attempts before began with `before`.
  void Continue(const FirstBatches& before) {
    if (own_.count == 0) before_ = before;
  }
  // Takes the digests of the attempt's batches, in the order of its steps.
  void Add(int64_t step, uint64_t digest);

  // Returns what the run began with; nullopt: fewer batches than that are
  // known.
  std::optional<FirstBatches> first() const {
    if (before_) return before_;
    if (own_.count < FirstBatches::kMost) return std::nullopt;
    return own_;
  }
  // Null: it takes other data, or too little is known.
  const DataAgain* again() const { return again_ ? &*again_ : nullptr; }

 private:
  void Judge();

  std::optional<FirstBatches> before_;  // absent: this is the first attempt
  FirstBatches own_;                    // of this attempt
  std::optional<DataAgain> again_;

  template <typename A>
  friend void Fields(A& archive, BatchWatch& w) {
    archive(w.before_, w.own_, w.again_);
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_BATCH_WATCH_H_
