#include "model/run.h"

namespace nanwatch {

std::string_view Name(OverflowMode mode) {
  switch (mode) {
    case OverflowMode::kUnknown:
      return "unknown";
    case OverflowMode::kInfNan:
      return "inf_nan";
    case OverflowMode::kSaturation:
      return "saturation";
  }
  return "unknown";
}

std::string_view Name(ScalingKind kind) {
  switch (kind) {
    case ScalingKind::kUnknown:
      return "unknown";
    case ScalingKind::kNone:
      return "none";
    case ScalingKind::kStatic:
      return "static";
    case ScalingKind::kDynamic:
      return "dynamic";
    case ScalingKind::kLayerwise:
      return "layerwise";
  }
  return "unknown";
}

bool HasFp16(const RunDescription& run) {
  return run.precision.find("16") != std::string::npos &&
         run.precision.find("bf16") == std::string::npos;
}

}  // namespace nanwatch
