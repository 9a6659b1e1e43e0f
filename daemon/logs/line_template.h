// LineTemplate: a text that a log prints again and again, with other numbers in
// it. What was found out about it once holds for the next one, too.

#ifndef NANWATCH_LOGS_LINE_TEMPLATE_H_
#define NANWATCH_LOGS_LINE_TEMPLATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanwatch {

// A number here is a row of digits and points, with blanks and a minus before
// it, and an exponent behind it. One that is glued to the end of a word
// ("loss2") is a part of it.
class LineTemplate {
 public:
  static constexpr size_t kNumbersMax = 32;
  // Where numbers begin, their blanks included.
  using Places = std::array<uint32_t, kNumbersMax>;

  // From now on `text` is the one. False: it is too long or has too many
  // numbers, and none is.
  bool Learn(std::string_view text);
  // Whether `text` is that one but for its numbers, and blanks before them;
  // then `*places` holds those of its numbers().
  bool Match(std::string_view text, Places* places) const;
  size_t numbers() const { return numbers_; }

 private:
  std::string words_;  // what is between the numbers, without a break
  std::array<uint16_t, kNumbersMax + 1> ends_{};  // in words_; one more of them
  size_t numbers_ = 0;
  bool learned_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_TEMPLATE_H_
