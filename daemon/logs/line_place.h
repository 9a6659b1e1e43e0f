// LinePlace: the step and the epoch of a line of no known program, where names
// do not say them: in words, in a bar, in front of it, or in lines above.

#ifndef NANWATCH_LOGS_LINE_PLACE_H_
#define NANWATCH_LOGS_LINE_PLACE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/bare_step.h"
#include "logs/column_fact.h"
#include "logs/epoch_lines.h"
#include "logs/in_words.h"
#include "logs/kept_axis.h"

namespace nanwatch {

class LinePlace {
 public:
  // The line's bar, where the newest step without a name was in one.
  std::optional<BarPlace> BarOf(std::string_view line) const {
    return in_bar_ ? BarIn(line) : std::nullopt;
  }
  // Adds to `*fact` what its names left open of a step line; `bar`: as BarOf().
  // Returns whether a name said the step.
  bool Add(std::string_view line, const std::optional<BarPlace>& bar,
           ColumnFact* fact);
  // The same of a line like one of which Add() found the step in the bar or by
  // its name.
  void AddUsual(std::string_view line, const std::optional<BarPlace>& bar,
                ColumnFact* fact);
  // Takes in a line without a loss, which may say the step or the epoch of
  // those that come. Returns whether it does.
  bool Look(std::string_view line);

  // A line whose loss stands behind so many words is an evaluation's: it stands
  // below a heading of one, "Eval epoch: 4", and those below the others have
  // the same words.
  bool IsOfEvaluation(uint32_t words, const ColumnFact& fact) {
    // Steps that go on are the training's.
    if (evaluates_ && fact.has_step()) evaluates_ = fact.step() <= step_;
    if (!evaluates_) {
      trained_ = words;
      if (fact.has_step()) step_ = fact.step();
    }
    return evaluates_ && words == trained_;
  }
  // The line of the newest Add() is an evaluation's: a line announced one, and
  // its step is of so many as the training has not, "step 10/88".
  bool is_apart() const { return apart_; }
  // The lines below may be an evaluation's.
  bool may_be_apart() const { return announced_ || evaluates_; }

  bool in_bar() const { return in_bar_; }
  const BareStep& bare() const { return bare_; }

 private:
  bool AddInFront(std::string_view line, ColumnFact* fact);
  void AddStep(std::string_view line, const std::optional<BarPlace>& bar,
               ColumnFact* fact);
  void AddEpoch(std::string_view line, ColumnFact* fact);
  void AddHeading(ColumnFact* fact);
  void Keep(bool named, bool bar, ColumnFact* fact);

  BareStep bare_;
  KeptAxis axis_;
  bool in_bar_ = false;  // the newest step without a name was in a bar
  int64_t front_ = -1;   // the newest ratio's part; -1: none
  bool front_stood_ = false;
  int64_t epoch_ = -1;  // of a line that said nothing else; -1: none
  EpochHeadings headings_;
  bool evaluates_ = false;  // the newest heading is an evaluation's
  int64_t step_ = 0;        // the training's newest
  uint32_t trained_ = 0;    // words of the newest line below another
  int64_t whole_ = 0;       // steps of an epoch, of the newest line of training
  bool begun_ = false;      // a line of training stood below the newest heading
  bool announced_ = false;  // an evaluation, behind that
  bool apart_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_PLACE_H_
