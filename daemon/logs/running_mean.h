// RunningMean: whether a loss that a bar shows is, by its name, a mean over the
// steps so far or the newest of them, and says nothing new: it is of few steps,
// each of which moves it by 1/n of what one batch is off, or mostly of those
// that the newest one was of.

#ifndef NANWATCH_LOGS_RUNNING_MEAN_H_
#define NANWATCH_LOGS_RUNNING_MEAN_H_

#include <cstdint>

#include "logs/fact.h"

namespace nanwatch {

class RunningMean {
 public:
  // Takes in the log's next step line with a loss.
  bool IsNoNews(const LogFact& fact);

 private:
  static constexpr int64_t kFirst = 8;   // steps, that move it most; ours
  static constexpr int64_t kApart = 16;  // the same, from news to news; ours
  static constexpr double kLeap = 4;     // times the newest news: news; ours
  // Times the lowest before any news, which no batch is; ours.
  static constexpr double kFirstLeap = 12;

  bool over_ = false;  // it is no such mean
  int64_t step_ = 0;   // of the newest
  int64_t news_step_ = 0;
  double news_ = 0;  // before the first of them the lowest
  double newest_ = 0;
  double first_ = 0;  // how far the first steps moved it
  double next_ = 0;   // and as many behind them
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RUNNING_MEAN_H_
