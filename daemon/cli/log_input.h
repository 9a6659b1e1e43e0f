// LogInput: the bytes of a log, from a file or standard input, unpacked where
// they are packed (.gz, .zst, by their first bytes, whatever the name).

#ifndef NANWATCH_CLI_LOG_INPUT_H_
#define NANWATCH_CLI_LOG_INPUT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nanwatch {

// What is read of one log: ten times the largest that is known of a rank. A
// plain file of zeros is as long as it likes on an empty disk.
inline constexpr uint64_t kLogBytes = 16ull << 30;
// Packed logs unpack to 10 to 100 times their size. So much more than that, and
// this much beside, is no log: 2 MB can be 20 GB.
inline constexpr uint64_t kUnpackedTimes = 500;
inline constexpr uint64_t kUnpackedBytes = 64 << 20;
// How long a pipe with a name is waited for until somebody opens it to write,
// and while a writer writes nothing. Standard input is waited for as
// long as it is open.
inline constexpr std::chrono::seconds kPipeOpens{5};
inline constexpr std::chrono::minutes kPipeWrites{10};

// A device that is no terminal: nobody's log, and often without an end.
bool IsDevice(int file);

// Reads `path` ("-": standard input) to its end, in pieces of at most 256 KB.
// The error names the path; what was read before a damaged part, or a bound
// above, was given.
Status ReadLogBytes(const std::string& path,
                    const std::function<void(std::string_view)>& on_bytes);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LOG_INPUT_H_
