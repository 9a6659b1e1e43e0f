// A daemon that runs for one job and ends with it.

#ifndef NANWATCH_APP_JOB_LOCK_H_
#define NANWATCH_APP_JOB_LOCK_H_

#include <chrono>
#include <string>

#include "base/result.h"

namespace nanwatch {

// Nobody must have held the lock for so long: the next job, or the last one
// begun again, may come at once; and what the last rank said is heard.
inline constexpr std::chrono::seconds kJobLockGrace(2);

// Sends this process SIGTERM once no other holds a lock (flock) on `path`, now
// or after. Each process of the job holds it shared, so it does not matter
// which of them started the daemon or ends last, or how it ends: the system
// lets go for a process that is killed. An error: the file cannot be opened.
// Call once; a thread of its own waits, with the caller's blocked signals.
Status EndWithLock(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_APP_JOB_LOCK_H_
