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
  // `before`: what the attempts before left.
  void Continue(const FirstBatches& before);
  // Takes the digests of the attempt's batches; of a step the first counts.
  void Add(int64_t step, uint64_t digest);

  const FirstBatches& first() const { return first_; }
  // Null: it takes other data, or too little is known.
  const DataAgain* again() const { return again_ ? &*again_ : nullptr; }

 private:
  // Batches of an attempt that are compared. One would do: digests have 64
  // bits. Several show that batches differ.
  static constexpr int32_t kCompared = 4;  // ours

  void Compare(int64_t step, uint64_t digest);
  void Judge();
  void Learn(int64_t step, uint64_t digest);

  FirstBatches first_;
  bool restarted_ = false;
  // Of the attempt's first batches: so many are the run's; -1: one was not, or
  // it is the first attempt.
  int32_t same_ = -1;
  std::optional<int64_t> newest_;  // step of this attempt
  DataAgain seen_;
  std::optional<DataAgain> again_;

  template <typename A>
  friend void Fields(A& archive, BatchWatch& w) {
    archive(w.first_, w.restarted_, w.same_, w.newest_, w.seen_, w.again_);
  }
};

template <typename A>
void Fields(A& archive, FirstBatches& f) {
  archive(f.batches, f.newest, f.period);
}

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_BATCH_WATCH_H_
