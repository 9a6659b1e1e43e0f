#include "compare/divergence.h"

namespace nanwatch {

std::string_view Name(DivergenceClass kind) {
  switch (kind) {
    case DivergenceClass::kOtherWeights:
      return "other_weights";
    case DivergenceClass::kOtherData:
      return "other_data";
    case DivergenceClass::kOtherSeed:
      return "other_seed";
    case DivergenceClass::kOtherSchedule:
      return "other_schedule";
    case DivergenceClass::kDivergentOp:
      return "divergent_op";
    case DivergenceClass::kDivergentFunction:
      return "divergent_function";
    case DivergenceClass::kDivergentLoss:
      return "divergent_loss";
    case DivergenceClass::kDivergentBackward:
      return "divergent_backward";
    case DivergenceClass::kCollective:
      return "collective_differs";
    case DivergenceClass::kOptimizer:
      return "other_optimizer";
    case DivergenceClass::kBetweenSteps:
      return "between_steps";
    case DivergenceClass::kUnordered:
      return "unordered";
    case DivergenceClass::kOtherInput:
      return "other_input";
    case DivergenceClass::kBeforeGradients:
      return "before_gradients";
  }
  return "";
}

}  // namespace nanwatch
