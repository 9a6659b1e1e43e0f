// Hear: a generated story through the real engine with every rule at its
// default, as a daemon would hear it, and what it says of it.

#ifndef NANWATCH_TESTS_JUDGE_HEARING_H_
#define NANWATCH_TESTS_JUDGE_HEARING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/rule_id.h"
#include "model/severity.h"
#include "tests/generate/record.h"

namespace nanwatch {

// An incident of information or worse.
struct Told {
  uint64_t id = 0;
  RuleId rule = RuleId::kNone;
  std::string cause;  // as told last
  Severity worst = Severity::kNone;
  size_t moment = 0;    // at which it was told first
  size_t warned = 0;    // at which it was a warning first; 0: never
  std::string summary;  // as it was when it became worst
};

struct Heard {
  std::vector<Told> told;           // in their order
  std::vector<std::string> causes;  // at look_at, the first first
  uint64_t updates = 0;
};

// A moment at a time, so that delays are exact; or `together` moments in a
// batch, which changes no verdict and is faster.
Heard Hear(const generate::Story& story, size_t together);

// Incidents that were a warning or worse at some time, from `moment` on.
int Warnings(const Heard& heard, size_t from, size_t to);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_JUDGE_HEARING_H_
