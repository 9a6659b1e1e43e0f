// A line of Paddle's tensor checker, in a file worker_DEVICE: the statistics of
// what an op made.
//   [PRECISION] in [device=gpu:0, op=matmul, tensor=x, dtype=fp16], numel=6,
//   num_nan=0, num_inf=0, num_zero=1, max=1.0e+00, min=-1.0e+00, mean=2.5e-01

#ifndef NANWATCH_DUMPS_PADDLE_LINE_H_
#define NANWATCH_DUMPS_PADDLE_LINE_H_

#include <optional>
#include <string_view>

#include "dumps/dump_collector.h"

namespace nanwatch {

inline constexpr std::string_view kPaddleMark = "[PRECISION]";

// Returns nullopt where the line is not whole. REQUIRES: it holds kPaddleMark.
std::optional<DumpedTensor> ReadPaddleLine(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_PADDLE_LINE_H_
