// Thousands that are parted by what is in no number else: "40'000" in
// Switzerland, "40 000" with a narrow blank (U+202F) in France.

#ifndef NANWATCH_LOGS_THOUSAND_SIGNS_H_
#define NANWATCH_LOGS_THOUSAND_SIGNS_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Returns `line` without such signs, written to `*out`, where it has any; else
// `line`.
std::string_view WithoutThousandSigns(std::string_view line, std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_THOUSAND_SIGNS_H_
