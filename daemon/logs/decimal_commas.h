// Numbers whose point is a comma, as much of Europe writes them: "0,2342".

#ifndef NANWATCH_LOGS_DECIMAL_COMMAS_H_
#define NANWATCH_LOGS_DECIMAL_COMMAS_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Returns whether commas stand between digits, one in a number, and no point
// does but in dates. They may part thousands.
bool HasDecimalCommas(std::string_view line);

// Returns `line` with points for its commas, written to `*out`, where it has
// decimal ones and a number shows that they part no thousands; else `line`.
std::string_view WithDecimalPoints(std::string_view line, std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_DECIMAL_COMMAS_H_
