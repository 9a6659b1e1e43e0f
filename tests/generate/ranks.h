// Healthy ranks of one job that report losses and norms of their own, whole,
// from a seed.

#ifndef NANWATCH_TESTS_GENERATE_RANKS_H_
#define NANWATCH_TESTS_GENERATE_RANKS_H_

#include <cstdint>

#include "tests/generate/record.h"

namespace nanwatch::generate {

// Two to eight ranks. Their batches differ, and in two seeds of three their
// data do: each has a level of its own, from the beginning or as it is learned.
// Norms are those of before the reduction, or of behind it and equal.
Story HealthyRanks(uint64_t seed, int64_t steps);

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_RANKS_H_
