// FirstBatches: the data that a run began with, by the digests of its batches
// (proto/SKETCH.md), and what a restart makes of them.

#ifndef NANWATCH_MODEL_FIRST_BATCHES_H_
#define NANWATCH_MODEL_FIRST_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nanwatch {

// Of rank 0. Clients that take digests seldom do so at each 64th step at least,
// and of the first 64: so one of them meets each epoch that begins.
struct FirstBatches {
  static constexpr size_t kMost = 64;  // as in the client
  struct Batch {
    int64_t step = 0;
    uint64_t digest = 0;
    bool operator==(const Batch&) const = default;
  };
  std::vector<Batch> batches;  // by rising steps
  int64_t newest = 0;          // step with a digest
  int64_t period = 0;          // steps until they came again; 0: they did not
  bool operator==(const FirstBatches&) const = default;
};

// An attempt that trains on the run's first batches once more.
struct DataAgain {
  enum class How : uint8_t {
    kAnew,     // the attempt before had other data at these steps
    kNotSure,  // it ended there: an epoch may have, too
    kInEpoch,  // the data had been passed: an epoch begins anew in its midst
  };
  How how = How::kAnew;
  int64_t step = 0;  // the attempt's first, and the last that is looked at
  int64_t last = 0;
  int64_t run_step = 0;  // the run's
  int64_t run_last = 0;
  bool operator==(const DataAgain&) const = default;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_FIRST_BATCHES_H_
