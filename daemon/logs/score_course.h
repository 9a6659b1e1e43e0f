// ScoreCourse: a number that says how well a training goes, a return or an
// accuracy: what it had come to, and for how long it lies nearer to where it
// began. Only what it is: whether that is trouble says a rule (score_lost).

#ifndef NANWATCH_LOGS_SCORE_COURSE_H_
#define NANWATCH_LOGS_SCORE_COURSE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/score_row.h"

namespace nanwatch {

class ScoreCourse {
 public:
  // Takes in the next, of `step`. REQUIRES: it is finite.
  void Add(double value, int64_t step);
  // Those nearer to the first ones than to the best.
  const ScoreRow& row() const { return row_; }

 private:
  // Two returns of five say nothing alone, however far they stand out.
  static constexpr size_t kWindow = 5;  // values; ours

  // Takes in a value nearer to the first ones; `since`: where its row begins.
  void AddLow(double middle, int64_t since);
  // Returns the middle one of the newest values.
  double Middle() const;

  ScoreRow row_;
  std::array<double, kWindow> values_{};  // the newest, in turn
  std::array<int64_t, kWindow> steps_{};  // theirs
  double newest_ = 0;
  double moved_ = 0;    // from value to value, in all
  double mean_ = 0;     // of about an eighth of the middle ones, the newest
  double highest_ = 0;  // of these means
  double counted_ = 0;  // rise since which `above` counts
  double fell_ = 0;     // furthest below that
  double before_ = 0;   // as fell_, before the row
  double lowest_ = 0;   // that the row stood at
  double rose_ = 0;     // furthest above that
  bool deep_ = false;   // it stands far below the first ones
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_SCORE_COURSE_H_
