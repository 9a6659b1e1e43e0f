// LossBesideEvaluation: lines that show a training's loss beside an
// evaluation's, "step 500: train loss 2.3, val loss 2.4". Where other lines
// show the loss of their steps, these say nothing new of it.

#ifndef NANWATCH_LOGS_LOSS_BESIDE_EVALUATION_H_
#define NANWATCH_LOGS_LOSS_BESIDE_EVALUATION_H_

#include <cstdint>
#include <string_view>

#include "logs/in_words.h"

namespace nanwatch {

class LossBesideEvaluation {
 public:
  // Takes in a step line with a loss; `words`: before it (loss_series.h);
  // `behind`: the rest of the line. True: other lines show such losses.
  bool Repeats(uint32_t words, std::string_view behind) {
    if (words != words_ && IsEvaluation(behind)) {
      ++beside_;
      return alone_ >= kEnough && alone_ > beside_;
    }
    words_ = words;
    ++alone_;
    return false;
  }

 private:
  static constexpr int64_t kEnough = 3;  // lines that are a course; ours

  uint32_t words_ = 0;  // of the newest line of a loss alone; 0: none
  int64_t alone_ = 0;   // lines
  int64_t beside_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LOSS_BESIDE_EVALUATION_H_
