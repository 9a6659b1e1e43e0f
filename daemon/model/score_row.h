// ScoreRow: what the settings of a run say of a number that tells how well it
// goes, a return, an accuracy or an evaluation's loss: what it had come to, and
// the newest values in a row, which lie far from that. A log's reader writes
// it, rules and causes read it.

#ifndef NANWATCH_MODEL_SCORE_ROW_H_
#define NANWATCH_MODEL_SCORE_ROW_H_

#include <cstdint>
#include <string>

#include "model/run.h"
#include "model/setting_numbers.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
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
  bool ended = false;   // no value follows

  // Returns the row as a setting, and what there is of the best.
  std::string Text() const {
    return TextOfNumbers(since, records, all, above, first, best, stands, noise,
                         wander) +
           (ended ? " end" : "");
  }
  std::string TextOfBest() const {
    return TextOfNumbers(best_at, first, best, noise);
  }
  // Return what such a setting of the run says; without values: nothing.
  static ScoreRow Read(const RunDescription& run, const char* name) {
    SettingNumbers told(run, name);
    ScoreRow row;
    told.Next(&row.since, &row.records, &row.all, &row.above, &row.first,
              &row.best, &row.stands, &row.noise, &row.wander);
    row.ended = told.rest() == " end";
    return told.whole() ? row : ScoreRow();
  }
  static ScoreRow ReadBest(const RunDescription& run, const char* name) {
    SettingNumbers told(run, name);
    ScoreRow row;
    told.Next(&row.best_at, &row.first, &row.best, &row.noise);
    return told.whole() ? row : ScoreRow();
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SCORE_ROW_H_
