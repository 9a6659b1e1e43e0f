// Scenario: what goes wrong (or right) in a training, and what its end should
// look like.

#ifndef NANWATCH_WORD2VEC_SCENARIO_H_
#define NANWATCH_WORD2VEC_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device.h"
#include "scaler.h"

namespace word2vec {

struct Scenario {
  std::string name;
  OverflowMode mode = OverflowMode::kSaturation;
  bool padded = true;        // the Log's buffer is padded with zeros
  bool should_learn = true;  // else: no update may ever be applied
  ScalerChoice scaler;
  int64_t steps = 0;
  int64_t poisoned_step = -1;  // -1: none
};

// "padding", "cure", "range" or "nan".
std::optional<Scenario> FindScenario(std::string_view name);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_SCENARIO_H_
