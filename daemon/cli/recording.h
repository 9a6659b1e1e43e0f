// Recording: what `backtest` and `simulate` read, event for event: a history,
// an export, or a log of another program.

#ifndef NANWATCH_CLI_RECORDING_H_
#define NANWATCH_CLI_RECORDING_H_

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/commands.h"
#include "model/event.h"

namespace nanwatch {

struct RecordingNote {
  bool is_log = false;
  // What is missing or damaged in it, in a sentence; empty: nothing.
  std::string complaint;
};

// Gives each event of `path` ("-": a log on standard input) in its order.
// `only`: of a history one run, the newest attempt where none is named; an
// empty run_id all of it, unless `one` asks for a single run: then the only one
// that there is. The error names the file and says what to do.
struct RecordingChoice {
  RunChoice run;
  bool one = false;
};
Result<RecordingNote> ReadRecording(
    const std::string& path, const CheckOptions& log,
    const RecordingChoice& only,
    const std::function<void(Time now, const Event& event)>& take);

// The same of a run that the daemon knows, as `export` has it. `address`:
// empty for the usual places.
Result<RecordingNote> ReadDaemonsRun(
    const std::string& address, const RunChoice& run,
    const std::function<void(const Event& event)>& take);

// Returns why the history or export `path` cannot be read, and what to do;
// `error`: what its reader said.
std::string WhyUnreadable(const std::string& path, const std::string& error);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RECORDING_H_
