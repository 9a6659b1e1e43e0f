// DumpPlace: what the folders around a file of a dump say: "step3/rank0/".

#ifndef NANWATCH_DUMPS_DUMP_PLACE_H_
#define NANWATCH_DUMPS_DUMP_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

struct DumpPlace {
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  std::vector<std::string> folders;  // that say neither
  std::string file;
};

// `path`: from the folder that was named, "/" between its parts.
DumpPlace PlaceOfDump(std::string_view path);
// Returns a number of digits alone; nullopt: it is none, or too long for one.
std::optional<int64_t> DigitsOf(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_DUMP_PLACE_H_
