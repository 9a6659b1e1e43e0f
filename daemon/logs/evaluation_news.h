// EvaluationNews: what of an evaluation's losses is news: one that is not
// finite or far above the lowest, and one that is neither any more; and that
// all of them are the same.

#ifndef NANWATCH_LOGS_EVALUATION_NEWS_H_
#define NANWATCH_LOGS_EVALUATION_NEWS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "logs/fact.h"
#include "logs/row_news.h"
#include "logs/scan.h"

namespace nanwatch {

class EvaluationNews {
 public:
  static constexpr double kFar = 1.5;  // times the lowest; ours

  // Takes in the next loss, whose name stands at byte `at` of its line. Tells
  // it where it is news. `is_loss`: else it may rise as it gets better.
  // `alone`: the line shows no training's, so it is no evaluation that is shown
  // again.
  void Take(double loss, std::string_view name, size_t at, FactList* facts,
            bool is_loss = true, bool alone = false) {
    const bool was_bad = bad_;
    const bool was_far = far_;
    bad_ = !std::isfinite(loss);
    const bool compared = !bad_ && is_loss && loss > 0 && IsFirst(name);
    if (compared) {
      if (first_ == 0) first_ = lowest_ = loss;
      far_ = loss >= kFar * lowest_;
      lowest_ = std::min(lowest_, loss);
    }
    const bool repeats = compared && alone && same_.Take(IsSame(loss));
    if (!bad_ && !was_bad && !repeats && !(compared && (far_ || was_far))) {
      return;
    }
    LogFact& fact = AddFact(LogFact::Kind::kEvaluated, at, facts);
    fact.Set(StepField::kLoss, loss);
    fact.text = name;
    fact.lowest = compared ? lowest_ : 0;
    fact.first = first_;
    if (repeats) fact.same = same_.row();
  }

 private:
  static constexpr double kCents = 100;   // whole ones are rounded; ours
  static constexpr double kParts = 0.01;  // of a cent, that none is; ours

  // Is it as all so far, in more digits than a rounded one has?
  bool IsSame(double loss) {
    const double cents = kCents * loss;
    const bool rounded = std::fabs(cents - std::round(cents)) <= kParts;
    differ_ |= loss != first_ || rounded;
    return !differ_;
  }

  // Sets of data have losses of their own: one of them is compared, that of the
  // first name, whatever numbers stand in it.
  bool IsFirst(std::string_view name) {
    const bool begins = first_ == 0;
    if (begins) name_.clear();
    size_t same = 0;
    for (const char c : name) {
      if (IsDigit(c) || c == ' ' || c == '.') continue;
      if (begins) name_ += c;
      if (same >= name_.size() || name_[same] != c) return false;
      ++same;
    }
    return same == name_.size();
  }

  bool bad_ = false;  // the newest was not finite
  bool far_ = false;  // the newest of those that are compared was far above
  std::string name_;  // theirs, without numbers
  double lowest_ = 0;
  RowNews<5> same_;      // evaluations, of those that are compared; ours
  bool differ_ = false;  // they are not all the same
  double first_ = 0;     // 0: none
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EVALUATION_NEWS_H_
