#include "model/severity.h"

namespace nanwatch {

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kNone:
      return "none";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      return "critical";
  }
  return "none";
}

std::string_view Name(Family family) {
  switch (family) {
    case Family::kScale:
      return "scale";
    case Family::kLoss:
      return "loss";
    case Family::kWeight:
      return "weight";
    case Family::kOp:
      return "op";
    case Family::kGradient:
      return "gradient";
    case Family::kFp8:
      return "fp8";
    case Family::kRank:
      return "rank";
    case Family::kTelemetry:
      return "telemetry";
    case Family::kBenchmark:
      return "benchmark";
  }
  return "telemetry";
}

}  // namespace nanwatch
