// Text of others that goes to a terminal or into a log line.

#ifndef NANWATCH_BASE_PLAIN_TEXT_H_
#define NANWATCH_BASE_PLAIN_TEXT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

// Copies `text`, and puts what `instead` returns in the place of each character
// that drives a terminal or turns what a person reads: the controls U+0000 to
// U+001F and U+007F to U+009F, line and paragraph separators, marks of writing
// direction. Bytes that are not UTF-8 are taken one by one: a terminal may read
// 0x9b as an escape.
std::string PlainText(std::string_view text,
                      const std::function<std::string(uint32_t)>& instead);

}  // namespace nanwatch

#endif  // NANWATCH_BASE_PLAIN_TEXT_H_
