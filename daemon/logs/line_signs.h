// LineSigns: which signs a line holds that most lines do not, in one pass over
// it.

#ifndef NANWATCH_LOGS_LINE_SIGNS_H_
#define NANWATCH_LOGS_LINE_SIGNS_H_

#include <string_view>

namespace nanwatch {

struct LineSigns {
  bool escape = false;  // of a terminal's colours
  bool hash = false;
  bool parenthesis = false;  // an open one
  bool slash = false;
  bool quote = false;  // a single one
  bool other = false;  // a byte that is not of ASCII
};

// Looks through `line` once.
LineSigns SignsOf(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_SIGNS_H_
