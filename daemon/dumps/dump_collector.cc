#include "dumps/dump_collector.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/limits.h"

namespace nanwatch {

void CountSpecials(ComparedTensor* tensor) {
  const TensorStatistics& s = *tensor->statistics;
  if (!s.max || !s.min) return;
  const bool nan = std::isnan(*s.max) || std::isnan(*s.min);
  tensor->nan = nan ? 1 : 0;
  // A tensor with NaN has them as its largest and smallest element.
  if (!nan) tensor->inf = std::isinf(*s.max) || std::isinf(*s.min) ? 1 : 0;
}

Status DumpCollector::Take(DumpedTensor dumped) {
  if (run_.tensors.size() == kDumpTensors) {
    return Error{
        fmt::format("it has more than {} tensors; name a folder of fewer steps",
                    kDumpTensors)};
  }
  OpName& op = dumped.op;
  if (op.name.size() > limits::kNameBytes) op.name.resize(limits::kNameBytes);
  const auto [at, is_new] =
      known_.try_emplace(TextOf(op), static_cast<uint32_t>(run_.ops.size()));
  if (is_new) run_.ops.push_back(std::move(op));
  dumped.tensor.op = at->second;
  run_.tensors.push_back(dumped.tensor);
  return OkStatus();
}

ComparedRun DumpCollector::Finish() {
  std::stable_sort(run_.tensors.begin(), run_.tensors.end(),
                   [](const ComparedTensor& a, const ComparedTensor& b) {
                     return a.step < b.step;
                   });
  return std::move(run_);
}

}  // namespace nanwatch
