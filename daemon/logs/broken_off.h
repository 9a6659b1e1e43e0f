// What a program's last lines say of how it broke off: an exception, a signal,
// a watchdog, memory that ran out.

#ifndef NANWATCH_LOGS_BROKEN_OFF_H_
#define NANWATCH_LOGS_BROKEN_OFF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/fact.h"
#include "model/records_ended.h"

namespace nanwatch {

// The words of `line` that say that its program ends, and how: "ValueError: bad
// label", "Killed", NCCL's watchdog. kUnknown: it says nothing of the kind.
struct BrokenOff {
  ProgramEnd::Kind kind = ProgramEnd::Kind::kUnknown;
  size_t at = 0;             // byte of the line at which they begin
  std::string_view type;     // "ValueError"
  std::string_view message;  // may be empty
};
BrokenOff ReadBrokenOff(std::string_view line);

// Words for the end of another process than the one that failed: a launcher's,
// or those of ranks that wait for it in vain.
bool IsFollowing(const BrokenOff& end);

// A line of source that a traceback shows, not what the program said.
bool IsTracebackSource(std::string_view line);

// What words of an end call not finite: a loss, or gradients.
std::optional<StepField> NotFiniteInWords(std::string_view words);

// Words of an end say that the training's loss grew beyond all bounds.
bool LossGrewInWords(std::string_view words);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_BROKEN_OFF_H_
