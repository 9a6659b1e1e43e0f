#include "compare/overflow_diff.h"

#include <map>
#include <string>
#include <tuple>

namespace nanwatch {
namespace {

using Overflows =
    std::map<std::tuple<int64_t, std::string, std::string>, DeviceOverflow>;

Overflows ByPlace(const ComparedRun& run) {
  Overflows by_place;
  for (const DeviceOverflow& overflow : run.overflows) {
    by_place.try_emplace({overflow.step, overflow.op, overflow.unit}, overflow);
  }
  return by_place;
}

}  // namespace

OverflowDiff DiffOverflows(const ComparedRun& a, const ComparedRun& b) {
  OverflowDiff diff;
  const Overflows of_a = ByPlace(a), of_b = ByPlace(b);
  for (const auto& [place, overflow] : of_a) {
    if (of_b.count(place) > 0) {
      ++diff.both;
    } else {
      diff.only_a.push_back(overflow);
    }
  }
  for (const auto& [place, overflow] : of_b) {
    if (of_a.count(place) == 0) diff.only_b.push_back(overflow);
  }
  return diff;
}

}  // namespace nanwatch
