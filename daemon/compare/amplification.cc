#include "compare/amplification.h"

#include <cmath>

#include "compare/sketch_distance.h"

namespace nanwatch {

Amplification::Amplification(const PairedStep& step) {
  for (const TensorPair& pair : step.pairs) {
    if (pair.phase == Phase::kForward || pair.phase == Phase::kBackward) {
      Take(pair);
    }
  }
}

void Amplification::Take(const TensorPair& pair) {
  if (!pair.a->sketch || pair.a->place != 0) return;
  Op& op = ops_[pair.op->name];
  Tensor* tensor = nullptr;
  switch (pair.a->slot) {
    case Slot::kInput:
      tensor = &op.input;
      break;
    case Slot::kOutput:
      tensor = &op.output;
      break;
    case Slot::kGradOutput:
      tensor = &op.grad_output;
      break;
    case Slot::kGradInput:
      // Its own share where it is there, and not the sum of all readers'.
      if (op.grad_input.norm > 0 && pair.op->type.ends_with("Sum")) return;
      tensor = &op.grad_input;
      break;
    default:
      return;
  }
  *tensor = {NormOf(*pair.a->sketch), static_cast<double>(pair.a->elements)};
}

std::optional<double> Amplification::Of(const std::string& op) const {
  const auto at = ops_.find(op);
  if (at == ops_.end()) return std::nullopt;
  const Op& known = at->second;
  const double back = known.grad_output.norm * known.output.norm *
                      std::sqrt(known.input.elements);
  if (back == 0 || known.grad_input.norm == 0 || known.input.norm == 0) {
    return std::nullopt;
  }
  return known.grad_input.norm * known.input.norm *
         std::sqrt(known.output.elements) / back;
}

}  // namespace nanwatch
