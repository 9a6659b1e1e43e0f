// Whether most steps of a run have no record, as in a log that shows one in
// ten: what is counted of records is not counted of steps then.

#ifndef NANWATCH_MODEL_STEPS_BETWEEN_H_
#define NANWATCH_MODEL_STEPS_BETWEEN_H_

#include <cstdint>

namespace nanwatch {

// `steps`: from record to record, all told. From two a record on it is no gap
// that makes records fewer.
constexpr bool HasStepsBetween(int64_t steps, int64_t records) {
  return steps >= 2 * records;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_STEPS_BETWEEN_H_
