// Numbers in the messages of Python programs, where lines are glued together
// ("to 32768.0Gradient overflow") and torn ("to 327").

#ifndef NANWATCH_LOGS_MESSAGE_NUMBER_H_
#define NANWATCH_LOGS_MESSAGE_NUMBER_H_

#include <optional>
#include <string_view>

namespace nanwatch {

struct MessageNumber {
  double value = 0;
  std::string_view text;  // as printed
  std::string_view rest;  // what follows it
  bool integer() const {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  }
};

// The number at the start of `text`, after blanks, whatever follows it: digits,
// a point, an exponent; nan, inf. nullopt: there is none.
std::optional<MessageNumber> ReadMessageNumber(std::string_view text);

// `printed` is the beginning of what Python prints for `expected`, and not all
// of it: the line was cut within the number.
bool IsTorn(std::string_view printed, double expected);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MESSAGE_NUMBER_H_
