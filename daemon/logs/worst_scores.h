// WorstScores: how many lines of a log show scores (F-measures, error rates)
// that are the worst that they can be, as long as none was better.

#ifndef NANWATCH_LOGS_WORST_SCORES_H_
#define NANWATCH_LOGS_WORST_SCORES_H_

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "logs/fact.h"

namespace nanwatch {

class WorstScores {
 public:
  // Takes in the scores of a line, if it has some. Returns what is news, as
  // Text().
  std::optional<std::string> Take(const LogFact& fact) {
    if (!fact.scores_worst || better_) return std::nullopt;
    better_ = !*fact.scores_worst;
    lines_ += *fact.scores_worst;
    const bool due = better_ || std::has_single_bit(lines_);
    if (lines_ < kTold || !due) return std::nullopt;
    return Text();
  }
  // Returns the number of lines; "": they are few, or one was better.
  std::string Text() const {
    return better_ || lines_ < kTold ? "" : std::to_string(lines_);
  }

 private:
  static constexpr uint64_t kTold = 8;  // ours: as ScoreCourse is told

  uint64_t lines_ = 0;
  bool better_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_WORST_SCORES_H_
