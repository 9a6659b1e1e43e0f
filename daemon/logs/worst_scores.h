// WorstScores: how many scores of a log (accuracies, F-measures, error rates)
// were the worst that they can be, or the first one to the last digit, as long
// as none was better.

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
    const uint64_t told = scores_ / kBatches;
    const bool of_batch = fact.scores_of_batch && !fact.of_epoch;
    if (!better_) scores_ += of_batch ? 1 : kBatches;
    const uint64_t now = scores_ / kBatches;
    if (told == now && !better_) return std::nullopt;
    if (now < kTold || !(better_ || std::has_single_bit(now))) {
      return std::nullopt;
    }
    return Text();
  }
  // Returns the number of evaluations that they are worth; "": they are few, or
  // one was better.
  std::string Text() const {
    const uint64_t worth = scores_ / kBatches;
    return better_ || worth < kTold ? "" : std::to_string(worth);
  }

 private:
  static constexpr uint64_t kTold = 8;     // ours: as ScoreCourse is told
  static constexpr uint64_t kBatches = 8;  // that say what a set does; ours

  uint64_t scores_ = 0;  // of batches; a set's are kBatches
  bool better_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_WORST_SCORES_H_
