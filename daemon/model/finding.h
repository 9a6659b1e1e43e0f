// Finding: one detector's present opinion on one subject.

#ifndef NANWATCH_MODEL_FINDING_H_
#define NANWATCH_MODEL_FINDING_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/op.h"
#include "model/rule_id.h"
#include "model/severity.h"
#include "model/tense.h"

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

// How much of an incident's summary a finding's sentence is.
enum class InSummary : uint8_t { kNot, kPart, kAll };
constexpr InSummary Last(InSummary) { return InSummary::kAll; }
constexpr std::string_view Name(InSummary in) {
  return in == InSummary::kNot    ? "not"
         : in == InSummary::kPart ? "part"
                                  : "all";
}

struct Finding {
  RuleId rule = RuleId::kNone;
  Family family = Family::kScale;  // RuleSpec::family
  Subject subject;
  Severity severity = Severity::kNone;
  int64_t opened_step = 0;  // first step of the trouble
  int64_t last_step = 0;    // newest step that the detector saw
  // Of the record at which it was over; absent: it is not, or that is not
  // known.
  std::optional<int64_t> back_step;
  Time opened{};
  Time last{};
  std::string sentence;       // with the numbers, for a person
  std::string sentence_over;  // the same once it is over; empty: no other
  InSummary in_summary = InSummary::kNot;  // of the incident that holds it
  std::vector<EvidenceNumber> numbers;

  // Takes over what `say(tense)` returns.
  template <typename Say>
  void SayBoth(Say&& say) {
    Tensed both = InBothTenses(say);
    sentence = std::move(both.now);
    sentence_over = std::move(both.over);
  }
  const std::string& Said(Tense tense) const {
    return tense == Tense::kPast && !sentence_over.empty() ? sentence_over
                                                           : sentence;
  }
};

// Returns the number of that name in the finding; nullopt where it has none.
inline std::optional<double> NumberOf(const Finding& finding,
                                      std::string_view name) {
  for (const EvidenceNumber& number : finding.numbers) {
    if (number.name == name) return number.value;
  }
  return std::nullopt;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_FINDING_H_
