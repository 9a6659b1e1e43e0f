// ScaleByValue: a column that is a loss scale by what it holds. Programs call
// theirs what they like ("amp_scaling", "fp16_scaler_value"), and all print
// powers of two. PlainScale: one that is called "scale" and nothing else, which
// much is (a line search's step, an initial scale).

#ifndef NANWATCH_LOGS_SCALE_BY_VALUE_H_
#define NANWATCH_LOGS_SCALE_BY_VALUE_H_

#include <cstddef>
#include <optional>
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

class PlainScale {
 public:
  // False: the name at the end of `before` is "scale" alone, and no such value
  // was above 1 so far, which a loss scale is there for, since the first was 1
  // or below; its value begins `text`.
  bool Lifts(std::string_view before, std::string_view text);

 private:
  std::optional<bool> lifts_;  // nullopt: none was seen
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_SCALE_BY_VALUE_H_
