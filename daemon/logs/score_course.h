// ScoreCourse: a number that says how well a training goes, a return or an
// accuracy: what it had come to, and for how long it lies nearer to where it
// began. Only what it is: whether that is trouble says a rule (score_lost).

#ifndef NANWATCH_LOGS_SCORE_COURSE_H_
#define NANWATCH_LOGS_SCORE_COURSE_H_

#include <array>
#include <cstdint>
#include <string>

namespace nanwatch {

// Values in a row, to the newest, that lie far from the best.
struct ScoreRow {
  int64_t since = 0;    // step of the first of them
  int64_t records = 0;  // of them
  int64_t all = 0;      // values, with those before
  int64_t above = 0;    // values nearer to the best, since half of the rise
  double first = 0;     // where the score began
  double best = 0;
  int64_t best_at = 0;  // its step
  double stands = 0;    // where the newest of the row do
  double noise = 0;     // from value to value, until the best
  double wander = 0;    // furthest that it had come down before, or up since

  // Returns all of the row, with blanks between: a setting of the run.
  std::string Text() const;
  // The same of the best.
  std::string TextOfBest() const;
};

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
