// LinePlace: the step and the epoch of a line of no known program, where names
// do not say them: in words, in a bar, in front of it, or in lines above.

#ifndef NANWATCH_LOGS_LINE_PLACE_H_
#define NANWATCH_LOGS_LINE_PLACE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/bare_step.h"
#include "logs/column_fact.h"
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

  // A heading says that what follows is an evaluation's, until the next epoch's
  // or until steps go on.
  bool evaluates() const { return evaluates_; }
  // Returns whether the line of Add() is such a one.
  bool IsOfEvaluation(const ColumnFact& fact);

  bool in_bar() const { return in_bar_; }
  const BareStep& bare() const { return bare_; }

 private:
  bool AddInFront(std::string_view line, ColumnFact* fact);
  void AddStep(std::string_view line, const std::optional<BarPlace>& bar,
               ColumnFact* fact);
  void AddEpoch(std::string_view line, ColumnFact* fact);
  void Keep(bool named, bool bar, ColumnFact* fact);

  BareStep bare_;
  KeptAxis axis_;
  bool in_bar_ = false;  // the newest step without a name was in a bar
  int64_t front_ = -1;   // the newest ratio's part; -1: none
  bool front_stood_ = false;
  int64_t epoch_ = -1;  // of a line that said nothing else; -1: none
  int64_t step_ = 0;    // the training's newest
  bool evaluates_ = false;
  bool of_epoch_ = false;  // by a heading of the epoch's: all lines below
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_PLACE_H_
