// CheckLog: one log of `nanwatch check`, from its bytes to what a person is
// told of it.

#ifndef NANWATCH_CLI_CHECK_LOG_H_
#define NANWATCH_CLI_CHECK_LOG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "app/log_judge.h"
#include "cli/commands.h"
#include "cli/step_picture.h"

namespace nanwatch {

// What the tensors of a dump show by themselves, however few steps it has.
struct DumpFinding {
  Severity severity = Severity::kNone;
  std::string first;     // "act, step 3": the first trouble; empty: none
  std::string headline;  // a sentence
};

struct CheckedLog {
  std::string path;
  LogVerdict verdict;
  StepPicture picture;
  // "recognised: 1,234 step lines"; how sure the emitter is.
  std::string certainty;
  std::string error;  // the file could not be read to its end; empty: it was
  // Where nothing could be judged: why, and what the file looks like. Also
  // where what was read says nothing of the training, whatever the verdict.
  std::string nothing;
  std::string map_note;  // where --map changed nothing: why; else empty
  std::optional<DumpFinding> dump;  // absent: it is no dump
  uint64_t cut_lines = 0;           // longer than any line is read
  uint64_t damaged_records = 0;     // of a TensorBoard file
};

CheckedLog CheckLog(const std::string& path, const CheckOptions& options);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_CHECK_LOG_H_
