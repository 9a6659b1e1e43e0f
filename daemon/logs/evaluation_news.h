// EvaluationNews: what of an evaluation's losses is news: one that is not
// finite, and one that is finite again.

#ifndef NANWATCH_LOGS_EVALUATION_NEWS_H_
#define NANWATCH_LOGS_EVALUATION_NEWS_H_

#include <cmath>
#include <cstddef>
#include <string_view>

#include "logs/fact.h"

namespace nanwatch {

class EvaluationNews {
 public:
  // Takes in the next loss, whose name stands at byte `at` of its line. Tells
  // it where it is news.
  void Take(double loss, std::string_view name, size_t at, FactList* facts) {
    const bool was_bad = bad_;
    bad_ = !std::isfinite(loss);
    if (!bad_ && !was_bad) return;
    LogFact& fact = AddFact(LogFact::Kind::kEvaluated, at, facts);
    fact.Set(StepField::kLoss, loss);
    fact.text = name;
  }

 private:
  bool bad_ = false;  // the newest was not finite
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EVALUATION_NEWS_H_
