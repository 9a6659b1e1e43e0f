// LogInput: the bytes of a log, from a file or standard input, unpacked where
// they are packed (.gz, .zst, by their first bytes, whatever the name).

#ifndef NANWATCH_CLI_LOG_INPUT_H_
#define NANWATCH_CLI_LOG_INPUT_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nanwatch {

// Reads `path` ("-": standard input) to its end, in pieces of at most 256 KB.
// The error names the path; what was read before a damaged part was given.
Status ReadLogBytes(const std::string& path,
                    const std::function<void(std::string_view)>& on_bytes);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LOG_INPUT_H_
