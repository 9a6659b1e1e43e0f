// The frameworks that advice is written for, and which of them a run uses.

#ifndef NANWATCH_DIAGNOSE_FRAMEWORK_H_
#define NANWATCH_DIAGNOSE_FRAMEWORK_H_

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/evidence.h"
#include "model/run.h"

namespace nanwatch {

struct Framework {
  std::string_view name;  // as in Action::framework
  std::string_view base;  // what it is built on; empty: nothing here
  // Its loss scaler is the base's and set in the same way.
  bool scaler_of_base;
};

// Returns the framework; null where no advice is written for it.
const Framework* FindFramework(std::string_view name);

// Returns names joined with '+': "deepspeed", "megatron+deepspeed". It takes
// what the run says (programs that print logs too: "gnmt+apex" is "apex"), or
// else what its scaler tells; empty where neither is known.
std::string FrameworkOf(const RunDescription& run, const RunEvidence& evidence);

// Returns the names in what FrameworkOf() returned.
std::vector<std::string_view> NamesIn(std::string_view frameworks);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FRAMEWORK_H_
