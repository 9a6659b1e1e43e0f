// Guessing: a loss that is worse than what guessing costs, of a model that was
// clearly better: nothing is left of what it knew. Or far worse, of a fresh
// one: it never learns like that. No history is needed to see either.

#ifndef NANWATCH_DETECT_GUESSING_H_
#define NANWATCH_DETECT_GUESSING_H_

#include <cstdint>

#include "detect/course.h"
#include "model/rule.h"

namespace nanwatch {

// Trivially copyable. Losses as they came.
class Guessing {
 public:
  // Steps above `untrained` that are a warning, and that are critical where no
  // way back shows.
  struct Limits {
    float untrained = 0;   // loss of guessing
    bool exactly = false;  // that is its loss, and not only about it
    double steps = 0;
    double critical_steps = 0;
  };

  // Takes in a loss, the mean over so many steps.
  Severity Add(float loss, int64_t step, int64_t covered, const Limits& limits);

  // The newest loss is worse than guessing.
  bool now() const { return steps_ > 0; }
  // It was for long enough to be told, and is not back since.
  bool away() const { return away_; }
  // The first step of those that are in a row. REQUIRES: now().
  int64_t since() const { return since_; }
  float loss() const { return loss_; }  // the newest that is worse
  float lowest() const { return lowest_; }
  // It was clearly better than guessing once, and not a fresh model.
  bool Knew(float untrained) const { return lowest_ <= kBetter * untrained; }

 private:
  static constexpr float kBetter = 0.75f;  // of guessing; ours

  Course course_;     // of the losses in a row
  float lowest_ = 0;  // 0: none
  float loss_ = 0;
  float peak_ = 0;
  int32_t steps_ = 0;  // in a row; 0: the newest is better
  bool away_ = false;
  int64_t since_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GUESSING_H_
