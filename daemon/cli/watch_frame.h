// What `nanwatch watch` shows of a run: numbers, verdict, pictures, cause and
// what to do, incidents, layers.

#ifndef NANWATCH_CLI_WATCH_FRAME_H_
#define NANWATCH_CLI_WATCH_FRAME_H_

#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// At most `rows` lines, each ended by a newline; 0: as many as it takes. Where
// there is little room the layers vanish, the pictures shrink and vanish, then
// incidents, then the ends of long sentences: the verdict, its cause and what
// to do stay, down to 6 lines. `steps` and `layers` may be empty: none of them.
std::string WatchFrame(const v1::RunDetail& run,
                       const v1::GetStepsResponse& steps,
                       const v1::GetLayersResponse& layers, const Style& style,
                       int rows);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_WATCH_FRAME_H_
