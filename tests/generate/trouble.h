// Trouble: a healthy training in which, from a step that the seed chooses,
// something goes wrong. One story a cause of the diagnoses, by the cause's
// public name; the size of the effect is told in multiples of what healthy
// runs do at 99.9 % of their steps.

#ifndef NANWATCH_TESTS_GENERATE_TROUBLE_H_
#define NANWATCH_TESTS_GENERATE_TROUBLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "tests/generate/record.h"

namespace nanwatch::generate {

struct TroubleKind {
  std::string_view cause;
  std::string_view unit;  // what one healthy 99.9 % quantile of it is
  // Scale collapses and numbers that are not finite: found at 99 %, others at
  // 95 %.
  bool collapse_or_nonfinite;
  Story (*make)(uint64_t seed, double effect);
};
std::span<const TroubleKind> TroubleKinds();

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_TROUBLE_H_
