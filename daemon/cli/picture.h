// A small picture of one number over steps, for the terminal. Each column shows
// the span from least to greatest of its steps, so that one bad step among
// thousands stays visible.

#ifndef NANWATCH_CLI_PICTURE_H_
#define NANWATCH_CLI_PICTURE_H_

#include <string>
#include <string_view>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

enum class Axis { kLinear, kLog2 };

// `rows` lines, each ended by a newline: the greatest and the least value at
// the left, a column a bucket, '!' in the top row where values were not finite.
// Empty when no bucket has the field.
std::string Picture(const v1::GetStepsResponse& steps, std::string_view field,
                    Axis axis, int rows, const Style& style);

// One line that marks the columns with overflows.
std::string OverflowLine(const v1::GetStepsResponse& steps, const Style& style);

// Columns to the left of the picture.
inline constexpr int kPictureMargin = 13;

}  // namespace nanwatch

#endif  // NANWATCH_CLI_PICTURE_H_
