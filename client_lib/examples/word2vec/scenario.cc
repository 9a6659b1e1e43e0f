#include "scenario.h"

namespace word2vec {

std::optional<Scenario> FindScenario(std::string_view name) {
  using Kind = ScalerChoice::Kind;
  Scenario s;
  s.name = name;
  if (name == "padding") {
    s.should_learn = false;
    s.steps = 4000;
  } else if (name == "cure") {
    s.scaler = {.kind = Kind::kFixed, .init = 1024, .overflow_check = false};
    s.steps = 6000;
  } else if (name == "range") {
    // What most model scripts for Ascend have: 2^32 and halving.
    s.padded = false;
    s.scaler = {.init = 0x1p32, .backoff = 0.5};
    s.steps = 3000;
  } else if (name == "nan") {
    s.mode = OverflowMode::kInfNan;
    s.padded = false;
    s.scaler.kind = Kind::kPytorch;
    s.steps = 3000;
    s.poisoned_step = 1000;
  } else {
    return std::nullopt;
  }
  return s;
}

}  // namespace word2vec
