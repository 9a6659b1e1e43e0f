// The losses that a run had in its attempts before, for a restart to be held
// against.

#ifndef NANWATCH_APP_EARLIER_ATTEMPTS_H_
#define NANWATCH_APP_EARLIER_ATTEMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "history/reader.h"
#include "model/benchmark.h"

namespace nanwatch {

// Returns the first step of a rank; absent: the history has none yet.
Result<std::optional<int64_t>> FirstStepOf(HistoryReader& history,
                                           const RunKey& run, int32_t rank);

// Returns the losses of the attempts before `run`, from a little before `first`
// on, the first step of `run`: those of the newest attempt that has them. Null:
// too few, or the run begins anew, at the first step of all of them.
Result<std::shared_ptr<const Benchmark>> EarlierAttempts(HistoryReader& history,
                                                         const RunKey& run,
                                                         int32_t rank,
                                                         int64_t first);

}  // namespace nanwatch

#endif  // NANWATCH_APP_EARLIER_ATTEMPTS_H_
