// RecordsEnded: no record follows. What the end of the records says that no
// record does is judged by applying this event.

#ifndef NANWATCH_MODEL_RECORDS_ENDED_H_
#define NANWATCH_MODEL_RECORDS_ENDED_H_

#include <cstdint>
#include <optional>
#include <string>

#include "model/step.h"

namespace nanwatch {

// A program said itself that it cannot go on with such numbers.
struct GaveUp {
  std::string words;  // its own
  // What it gave up over; absent: the loss scale, which can fall no more.
  std::optional<StepField> over;
  bool operator==(const GaveUp&) const = default;
};

// Of a run attempt, or, where the event is of a rank, of that rank.
struct RecordsEnded {
  // Kept in history as a number: new ones go to the end.
  enum class How : uint8_t {
    kUnknown,     // nobody said
    kClosed,      // in order
    kBeganAgain,  // from its start or a checkpoint: another attempt follows
    kGaveUp,      // by the program's own word
  };
  How how = How::kUnknown;
  // The newest word of that kind. Where `how` is not kGaveUp the program went
  // on after it. Absent: it gave none.
  std::optional<GaveUp> gave_up;
  bool operator==(const RecordsEnded&) const = default;
};
inline constexpr int kRecordsEndedHows = 4;

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RECORDS_ENDED_H_
