// What `nanwatch watch` shows of a run: numbers, verdict, pictures, cause and
// what to do, incidents.

#ifndef NANWATCH_CLI_WATCH_FRAME_H_
#define NANWATCH_CLI_WATCH_FRAME_H_

#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// At most `rows` lines, each ended by a newline; 0: as many as it takes. Where
// there is little room the pictures shrink and vanish, then incidents, then the
// ends of long sentences: the verdict, its cause and what to do stay, down to 6
// lines. `steps` may be empty: no pictures.
std::string WatchFrame(const v1::RunDetail& run,
                       const v1::GetStepsResponse& steps, const Style& style,
                       int rows);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_WATCH_FRAME_H_
