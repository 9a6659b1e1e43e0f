// RecordsEnded: no record follows. What the end of the records says that no
// record does is judged by applying this event.

#ifndef NANWATCH_MODEL_RECORDS_ENDED_H_
#define NANWATCH_MODEL_RECORDS_ENDED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/step.h"

namespace nanwatch {

// A program said itself that it cannot go on with such numbers.
struct GaveUp {
  std::string words;  // its own
  // What it gave up over; absent: the loss scale, which can fall no more.
  std::optional<StepField> over;
  bool grown = false;  // `over` is finite, and was too large
  bool operator==(const GaveUp&) const = default;
};

// How a program ended that did not end in order, by its client's word.
struct ProgramEnd {
  // Kept in history as a number: new ones go to the end.
  enum class Kind : uint8_t {
    kUnknown,
    kException,
    kExit,       // with a status that is not 0
    kInterrupt,  // by a person
    kSignal,
    kOutOfMemory,
  };
  Kind kind = Kind::kUnknown;
  std::string type;     // "ValueError", "sys.exit(1)", "SIGTERM"
  std::string message;  // its own words; may be empty
  bool operator==(const ProgramEnd&) const = default;
};
inline constexpr int kProgramEndKinds = 6;
std::string_view Name(ProgramEnd::Kind kind);  // "exception", ...
// Returns "ValueError: bad label".
std::string WordsOf(const ProgramEnd& end);

// The end of the program of one rank of a run.
struct RankEnd {
  ProgramEnd end;
  int32_t rank = 0;
  int64_t step = -1;  // its last; -1: it had none
  bool operator==(const RankEnd&) const = default;
};
// True when `a` says better than `b` why a run ended: ranks that are stopped
// because of another one's error end by a signal, or by an exit.
bool SaysMore(const RankEnd& a, const RankEnd& b);
// Returns "ValueError: bad label at step 812"; with the rank where there are
// `ranks` of them.
std::string WordsOf(const RankEnd& end, int32_t ranks);

// Returns what a run that ended so is closed with, "ended by ValueError: ...".
std::string EndReason(const RankEnd& end, int32_t ranks);

// Of a run attempt, or, where the event is of a rank, of that rank.
struct RecordsEnded {
  // Kept in history as a number: new ones go to the end.
  enum class How : uint8_t {
    kUnknown,     // nobody said
    kClosed,      // in order
    kBeganAgain,  // from its start or a checkpoint: another attempt follows
    kGaveUp,      // by the program's own word
    kBroke,       // the program of a rank did not end in order
  };
  How how = How::kUnknown;
  // The newest word of that kind. Where `how` is not kGaveUp the program went
  // on after it. Absent: it gave none.
  std::optional<GaveUp> gave_up;
  std::optional<ProgramEnd> end;  // of a rank, with kBroke
  bool operator==(const RecordsEnded&) const = default;
};
inline constexpr int kRecordsEndedHows = 5;

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RECORDS_ENDED_H_
