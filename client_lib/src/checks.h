// What the daemon would refuse of a record: it refuses whole messages, so one
// bad row would take all others of its batch along.

#ifndef NANWATCH_CLIENT_CHECKS_H_
#define NANWATCH_CLIENT_CHECKS_H_

#include <nanwatch.h>

#include <cstdint>
#include <string>

namespace nanwatch_client {

// Steps and times are sent as differences, which stay within 64 bits then.
inline constexpr int64_t kStepMost = int64_t{1} << 62;

// The rest of a sentence that begins with the record ("holds 12 NaN ...");
// empty: nothing is wrong.
std::string WhatIsWrong(const nanwatch_step& step);
// `shape`: elements of the op's storage shape; 0: not known.
std::string WhatIsWrong(const nanwatch_op_status& status, uint64_t shape);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_CHECKS_H_
