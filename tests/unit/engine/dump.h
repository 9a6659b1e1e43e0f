// Everything that a snapshot or effects show, as text, so that two of them can
// be compared and a difference can be read.

#ifndef NANWATCH_TESTS_UNIT_ENGINE_DUMP_H_
#define NANWATCH_TESTS_UNIT_ENGINE_DUMP_H_

#include <string>

#include "engine/engine.h"
#include "model/snapshot.h"

namespace nanwatch {

std::string Dump(const Snapshot& snapshot);
std::string Dump(const RunView& run);
std::string Dump(const Effects& effects);
// What a run is found to have, without the moments at which it was noticed.
std::string DumpVerdict(const RunView& run);
// What is found now, however it is grouped: the same for every interleaving of
// ranks.
std::string DumpFindings(const RunView& run);
// What an incident is named after.
std::string DumpName(const Incident& incident);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_ENGINE_DUMP_H_
