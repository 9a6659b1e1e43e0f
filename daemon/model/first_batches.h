// FirstBatches: the data that a run began with, by the digests of its batches
// (proto/SKETCH.md), and what a restart makes of them.

#ifndef NANWATCH_MODEL_FIRST_BATCHES_H_
#define NANWATCH_MODEL_FIRST_BATCHES_H_

#include <array>
#include <cstdint>

namespace nanwatch {

// Of rank 0, in the run's first attempt.
struct FirstBatches {
  // One would do: digests have 64 bits. Several show that batches differ.
  static constexpr int32_t kMost = 4;  // ours

  int64_t step = 0;    // of the first one
  int32_t count = 0;   // of digests
  int64_t period = 0;  // steps until the first one came again; 0: it did not
  std::array<uint64_t, kMost> digests{};
  bool operator==(const FirstBatches&) const = default;
};

// An attempt that trains on the run's first batches once more.
struct DataAgain {
  int64_t step = 0;     // the attempt's first
  int64_t first = 0;    // the run's
  bool passed = false;  // the attempt before had come through its data: an
                        // epoch begins anew in its midst
  bool operator==(const DataAgain&) const = default;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_FIRST_BATCHES_H_
