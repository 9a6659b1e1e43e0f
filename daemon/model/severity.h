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
  kScale,      // rules 1-14, 58, 59
  kLoss,       // 15, 34-37
  kWeight,     // 16, 17, 38-40
  kOp,         // 18-22, 24-26
  kGradient,   // 27-33
  kFp8,        // 41-43
  kRank,       // 49, 51, 56
  kTelemetry,  // 53-55, 57
};
inline constexpr int kFamilies = 8;
constexpr Family Last(Family) { return Family::kTelemetry; }

// Lower-case names as they stand in metrics, JSON and configuration.
std::string_view Name(Severity severity);
std::string_view Name(Family family);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SEVERITY_H_
