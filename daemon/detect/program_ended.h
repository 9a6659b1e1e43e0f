// Rule 61, program_ended: the program of a rank did not end in order: an error,
// an exit, a signal, a person, memory that ran out. Its client says which.

#ifndef NANWATCH_DETECT_PROGRAM_ENDED_H_
#define NANWATCH_DETECT_PROGRAM_ENDED_H_

#include <array>
#include <cstdint>

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ProgramEnded {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // The most of its words that are kept; a client cuts a message to 200
  // characters.
  static constexpr size_t kWords = 255;  // bytes; ours

  Severity severity_ = Severity::kNone;
  ProgramEnd::Kind kind_ = ProgramEnd::Kind::kUnknown;
  std::array<char, kWords> words_{};
  uint8_t size_ = 0;   // of words_
  int32_t rank_ = -1;  // -1: the only one
  int64_t step_ = -1;  // its last; -1: it had none
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_PROGRAM_ENDED_H_
