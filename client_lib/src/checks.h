// What the daemon would refuse of a record: it refuses whole messages, so one
// bad row would take all others of its batch along.

#ifndef NANWATCH_CLIENT_CHECKS_H_
#define NANWATCH_CLIENT_CHECKS_H_

#include <nanwatch.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nanwatch_client {

// Steps lie in 0 .. 2^53, times before the year 10000, as the daemon has it.
inline constexpr int64_t kStepMost = int64_t{1} << 53;
inline constexpr int64_t kTimeMostUs = 253402300799 * 1000000;

// The rest of a sentence that begins with the record ("holds 12 NaN ...");
// empty: nothing is wrong.
// `optimizers`: how many have a name.
std::string WhatIsWrong(const nanwatch_step& step, size_t optimizers);
// `shape`: elements of the op's storage shape; 0: not known.
std::string WhatIsWrong(const nanwatch_op_status& status, uint64_t shape);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_CHECKS_H_
