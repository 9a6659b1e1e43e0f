// A learning rate that a line prints as 0: is it?

#ifndef NANWATCH_LOGS_ZERO_RATE_H_
#define NANWATCH_LOGS_ZERO_RATE_H_

#include <string_view>

namespace nanwatch {

// True of "lr: 0.0", "'learning_rate': 0", "LR 0.000e+00": that is how programs
// print a number of any size. False of "lr: 0.0000", which may be a small one,
// and of other lines.
bool ShowsZeroRate(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ZERO_RATE_H_
