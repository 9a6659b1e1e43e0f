// Dumps of a program's settings, a line each: "  clip_grad ........ 1.0".

#ifndef NANWATCH_LOGS_DUMPED_SETTING_H_
#define NANWATCH_LOGS_DUMPED_SETTING_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "logs/fact.h"

namespace nanwatch {

struct DumpedSetting {
  std::string_view key;      // as the program calls it
  std::string_view setting;  // as LogFact does
  std::string_view text;     // it, where the value is True
};

// Tells what "key ..... value" at the byte `at` of a line sets, by the names
// that are `known`; also what the pairs of a dict do that is the value.
void ReadDumped(std::string_view line, size_t at,
                std::span<const DumpedSetting> known, FactList* facts);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_DUMPED_SETTING_H_
