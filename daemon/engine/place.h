// Place: where a rank stands in the order of updates.

#ifndef NANWATCH_ENGINE_PLACE_H_
#define NANWATCH_ENGINE_PLACE_H_

#include <compare>
#include <cstdint>

namespace nanwatch {

struct Place {
  int64_t step = INT64_MIN;  // INT64_MIN: nothing yet
  int32_t retry = 0;         // 0: the first try of this step number
  auto operator<=>(const Place&) const = default;

  // Returns that of the next record, if it says `next`: a repeated number is
  // another try.
  Place Next(int64_t next) const {
    return next == step ? Place{step, retry + 1} : Place{next, 0};
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_PLACE_H_
