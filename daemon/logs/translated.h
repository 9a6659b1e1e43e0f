// What Chinese, Japanese, Korean, Russian and Ukrainian scripts call their
// numbers, in the words that formats know; and signs for which ASCII has
// others.

#ifndef NANWATCH_LOGS_TRANSLATED_H_
#define NANWATCH_LOGS_TRANSLATED_H_

#include <string>
#include <string_view>

namespace nanwatch {

// `line` with "loss" for what means it, and so on, in `*out`; `line` itself
// where it has no such word or sign.
std::string_view Translated(std::string_view line, std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TRANSLATED_H_
