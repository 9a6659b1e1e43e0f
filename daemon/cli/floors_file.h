// The file that `repeat` writes and `compare` reads: how far repeats lie apart.

#ifndef NANWATCH_CLI_FLOORS_FILE_H_
#define NANWATCH_CLI_FLOORS_FILE_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "compare/floors.h"

namespace nanwatch {

Status WriteFloors(const std::string& path, const Floors& floors,
                   int64_t repeats);
// The error is a sentence for who named the file.
Result<Floors> ReadFloors(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_FLOORS_FILE_H_
