// ScaleByValue: a column that is a loss scale by what it holds. Programs call
// theirs what they like ("amp_scaling", "fp16_scaler_value"), and all print
// powers of two.

#ifndef NANWATCH_LOGS_SCALE_BY_VALUE_H_
#define NANWATCH_LOGS_SCALE_BY_VALUE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nanwatch {

class ScaleByValue {
 public:
  // Whether a name of no known meaning may be one's.
  static bool MayBe(std::string_view name);
  // Whether the column of such a name is a loss scale; its value begins
  // `text`. Once it is, it stays one, and no other is.
  bool Is(std::string_view name, std::string_view text);
  // The same of the name at the end of `before`. Returns its size, with what
  // follows it there; 0: it is none.
  size_t Look(std::string_view before, std::string_view text);

 private:
  std::string name_;  // empty: none yet
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_SCALE_BY_VALUE_H_
