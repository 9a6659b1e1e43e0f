// Ops whose gradient has no jumps, and how they round.

#ifndef NANWATCH_COMPARE_SMOOTH_OPS_H_
#define NANWATCH_COMPARE_SMOOTH_OPS_H_

#include <cstdint>
#include <string_view>

namespace nanwatch {

// `type`: of an op of the forward or of the backward pass. A type that is not
// known may have a ReLU, or take the largest, within.
bool IsSmooth(std::string_view type);

// Whether it reads in turn what it made itself, at each of many times. `type`:
// as above.
bool GoesThroughTime(std::string_view type);

// What one function rounds, in a lower format.
enum class RoundingsOf : uint8_t {
  kUnknown,  // it may call others, or itself
  kAll,      // what it reads, its weights and what it makes
  kResult,   // what it makes: it normalizes, in fp32
};
// `type`: of an op of the forward pass.
RoundingsOf RoundingsOfType(std::string_view type);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_SMOOTH_OPS_H_
