// Finding: one detector's present opinion on one subject.

#ifndef NANWATCH_MODEL_FINDING_H_
#define NANWATCH_MODEL_FINDING_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/op.h"
#include "model/rule_id.h"
#include "model/severity.h"

namespace nanwatch {

// What a finding speaks of. A run has rank -1; `op` is set for ops only.
struct Subject {
  int32_t rank = -1;
  std::string optimizer;  // of a step finding; empty: the only one
  std::string op;         // name; empty: not an op finding
  Slot slot = Slot::kOutput;
  auto operator<=>(const Subject&) const = default;
};

struct EvidenceNumber {
  std::string name;  // e.g. "scale_before"
  double value = 0;
  std::string unit;  // may be empty
};

struct Finding {
  RuleId rule = RuleId::kNone;
  Family family = Family::kScale;  // RuleSpec::family
  Subject subject;
  Severity severity = Severity::kNone;
  int64_t opened_step = 0;  // first step of the trouble
  int64_t last_step = 0;    // newest step that the detector saw
  Time opened{};
  Time last{};
  std::string sentence;  // with the numbers, for a person
  std::vector<EvidenceNumber> numbers;
};

// What the finding says of the number; nullopt: nothing.
inline std::optional<double> NumberOf(const Finding& finding,
                                      std::string_view name) {
  for (const EvidenceNumber& number : finding.numbers) {
    if (number.name == name) return number.value;
  }
  return std::nullopt;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_FINDING_H_
