// The text of a configuration's file.

#ifndef NANWATCH_CONFIG_CONFIG_TEXT_H_
#define NANWATCH_CONFIG_CONFIG_TEXT_H_

#include <string>

#include "base/result.h"

namespace nanwatch {

// A file with every key is 10 KB. Above this it is not a configuration.
inline constexpr size_t kConfigTextMost = 1 << 20;

// Reads at most one byte more than that. An error is a sentence with the file.
Result<std::string> ReadConfigText(const std::string& file);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_CONFIG_TEXT_H_
