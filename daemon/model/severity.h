// How bad, and what kind of trouble.

#ifndef NANWATCH_MODEL_SEVERITY_H_
#define NANWATCH_MODEL_SEVERITY_H_

#include <cstdint>
#include <string_view>

namespace nanwatch {

enum class Severity : uint8_t { kNone, kInfo, kWarning, kCritical };
constexpr Severity Last(Severity) { return Severity::kCritical; }

// The families of rules: one condition each in metrics and alerts.
enum class Family : uint8_t {
  kScale,      // the loss scale, its overflows and its use
  kLoss,       // the loss
  kWeight,     // weights, their updates, the optimizer's state
  kOp,         // what enters and leaves ops, collectives among them
  kGradient,   // gradients, their norm and their underflow
  kFp8,        // fp8 tensors and their scales
  kRank,       // ranks that differ from one another
  kTelemetry,  // records that are missing, or say nothing
  // Numbers are kept in history: new ones go to the end.
  kBenchmark,  // what differs from the run that it is held against
};
inline constexpr int kFamilies = 9;
constexpr Family Last(Family) { return Family::kBenchmark; }

// Returns the lower-case name that stands in metrics, JSON and configuration.
std::string_view Name(Severity severity);
std::string_view Name(Family family);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SEVERITY_H_
