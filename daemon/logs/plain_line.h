// PlainLine: a line as a program would print it on a terminal without colours,
// in English, with numbers that have no signs between their thousands.

#ifndef NANWATCH_LOGS_PLAIN_LINE_H_
#define NANWATCH_LOGS_PLAIN_LINE_H_

#include <string>
#include <string_view>

namespace nanwatch {

class PlainLine {
 public:
  // Returns `line` so; valid until the next call, and as long as `line` is.
  std::string_view Of(std::string_view line);

 private:
  std::string plain_;
  std::string tabs_;
  std::string translated_;
  std::string paired_;
  std::string pointed_;
  std::string ungrouped_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_PLAIN_LINE_H_
