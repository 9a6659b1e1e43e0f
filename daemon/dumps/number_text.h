// Numbers as other tools print them.

#ifndef NANWATCH_DUMPS_NUMBER_TEXT_H_
#define NANWATCH_DUMPS_NUMBER_TEXT_H_

#include <optional>
#include <string_view>

namespace nanwatch {

// Reads "1.5e-03", "-nan", "inf"; nullopt: it is no number, or not one alone.
std::optional<double> NumberIn(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NUMBER_TEXT_H_
