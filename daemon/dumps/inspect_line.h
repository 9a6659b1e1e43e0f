// The statistics that NVIDIA's dlfw-inspect logs of TransformerEngine's layers,
// in a file nvdlfw_inspect_globalrank-0.log: a number a line.
//   INFO - layer.qkv_activation_max        iteration=000002        value=4.3188

#ifndef NANWATCH_DUMPS_INSPECT_LINE_H_
#define NANWATCH_DUMPS_INSPECT_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dumps/dump_collector.h"

namespace nanwatch {

inline constexpr std::string_view kInspectMark = " iteration=";

struct InspectLine {
  int64_t step = 0;
  std::string tensor;     // "layer.qkv_activation"
  std::string statistic;  // "max"
  double value = 0;
};

// Returns nullopt where the line is not whole. REQUIRES: it holds kInspectMark.
std::optional<InspectLine> ReadInspectLine(std::string_view line);

// Puts the lines of one tensor and step together, which follow each other.
class InspectTensors {
 public:
  // Returns the tensor before, where the line begins another one.
  std::optional<DumpedTensor> Take(const InspectLine& line);
  // Returns the last one.
  std::optional<DumpedTensor> Finish();

 private:
  std::optional<DumpedTensor> open_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_INSPECT_LINE_H_
