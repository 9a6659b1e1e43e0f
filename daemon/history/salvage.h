// Salvage: what can still be read of a damaged file, into a new one.

#ifndef NANWATCH_HISTORY_SALVAGE_H_
#define NANWATCH_HISTORY_SALVAGE_H_

#include <string>

#include "history/database.h"

namespace nanwatch {

// Copies events with their ids, and incidents as last sent, from `damaged` into
// `fresh`. Returns what became of it, in a sentence.
std::string Salvage(const std::string& damaged, Database& fresh);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_SALVAGE_H_
