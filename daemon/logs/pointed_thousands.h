// Steps whose thousands are parted by points, as much of Europe writes them:
// "Schritt 1.250/20.000".

#ifndef NANWATCH_LOGS_POINTED_THOUSANDS_H_
#define NANWATCH_LOGS_POINTED_THOUSANDS_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Returns `line` without the points in its first ratio of such numbers, written
// to `*out`, where that stands right behind a word for a step and is no more
// than 1; else `line`.
std::string_view WithoutPointsOfThousands(std::string_view line,
                                          std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_POINTED_THOUSANDS_H_
