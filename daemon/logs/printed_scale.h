// PrintedScale: what a loss scale in a log can mean. Programs round it, print
// -1 where they do not know it, or its logarithm.

#ifndef NANWATCH_LOGS_PRINTED_SCALE_H_
#define NANWATCH_LOGS_PRINTED_SCALE_H_

#include <string_view>

#include "logs/fact.h"

namespace nanwatch {

enum class ScaleText : uint8_t {
  kExact,    // all digits (Python's str or repr): 0 is zero
  kRounded,  // a fixed number of decimals: 0 is "half of the last at most", and
             // another below 1 the power of two that is printed so
  kInteger,  // cut to an integer: 0 is "less than 1"
};

// Sets `fact`'s loss scale from `text`. Negative (unknown) and unreadable ones
// leave it unset; one that was rounded to zero sets scale_at_most.
void SetScale(std::string_view text, ScaleText how, LogFact* fact);
// The same where `text` was read already: it is `value`.
void SetScale(std::string_view text, double value, ScaleText how,
              LogFact* fact);
// The same for a scale that is printed as its binary logarithm. Beyond the
// range of a double it is 0 or infinite: no float can hold it.
void SetLog2Scale(double log2_scale, LogFact* fact);

// Loss scales are, but where somebody set one.
bool IsPowerOfTwo(double value);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_PRINTED_SCALE_H_
