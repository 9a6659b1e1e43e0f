// Salvage: what can still be read of a damaged file, into a new one.

#ifndef NANWATCH_HISTORY_SALVAGE_H_
#define NANWATCH_HISTORY_SALVAGE_H_

#include <cstdint>
#include <string>

#include "history/database.h"

namespace nanwatch {

struct Salvaged {
  std::string sentence;      // what became of it
  uint64_t lost_events = 0;  // between those that were read, as it says
};

// Copies events with their ids, and incidents as last sent, from `damaged` into
// `fresh`.
Salvaged Salvage(const std::string& damaged, Database& fresh);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_SALVAGE_H_
