// SelfSample: one figure of the daemon about itself. Components count; app/
// gathers; metrics/ renders.

#ifndef NANWATCH_MODEL_SELF_SAMPLE_H_
#define NANWATCH_MODEL_SELF_SAMPLE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nanwatch {

struct SelfSample {
  std::string_view name;  // from model/metric_names.h
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SELF_SAMPLE_H_
