// PastTrouble: an incident of an attempt before. A job that begins again from a
// checkpoint often meets what it died of: that is one trouble, which came back.

#ifndef NANWATCH_MODEL_PAST_TROUBLE_H_
#define NANWATCH_MODEL_PAST_TROUBLE_H_

#include <cstdint>
#include <string>

#include "model/rule_id.h"
#include "model/severity.h"

namespace nanwatch {

struct PastTrouble {
  uint64_t id = 0;        // of the incident
  int32_t attempt = 0;    // that had it last
  int64_t last_step = 0;  // of that attempt
  RuleId rule = RuleId::kNone;
  Family family = Family::kScale;
  std::string op;
  std::string optimizer;
  int64_t opened_step = 0;  // the first time
  Severity worst = Severity::kNone;
  int32_t reopened = 0;
  bool operator==(const PastTrouble&) const = default;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_PAST_TROUBLE_H_
