// LogReader: lines of a log in, step records out. Recognises the program,
// assembles its facts, and gathers what the log says of the run itself.

#ifndef NANWATCH_LOGS_LOG_READER_H_
#define NANWATCH_LOGS_LOG_READER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/array_rows.h"
#include "logs/assembler.h"
#include "logs/bare_numbers.h"
#include "logs/dict_blocks.h"
#include "logs/line_joiner.h"
#include "logs/mapped_columns.h"
#include "logs/norm_lines.h"
#include "logs/plain_line.h"
#include "logs/recogniser.h"
#include "logs/record_joiner.h"
#include "logs/row_news.h"
#include "logs/running_mean.h"
#include "logs/score_course.h"
#include "logs/step_axis.h"
#include "logs/term_news.h"
#include "logs/zero_layers.h"
#include "model/records_ended.h"
#include "model/run.h"

namespace nanwatch {

// A program that gave up because of its numerics: the last time, if it was
// started again.
struct LogStopped {
  uint64_t line = 0;
  GaveUp word;
};

// A program that broke off, in its own words.
struct LogBroke {
  uint64_t line = 0;
  ProgramEnd end;
  std::optional<int32_t> rank;  // whose words these are, where they say so
};

class LogReader {
 public:
  // `only` and `map` as for Recogniser. Records come during the calls below.
  LogReader(const LogFormat* only, const ColumnMap& map, LogRecordSink sink);

  // As BareNumbers::SetFile.
  void SetFile(std::string_view file) { bare_.SetFile(file); }
  // Without its line end; terminal colours are taken out here.
  void ReadLine(std::string_view line);
  // Of a log that is not made of lines (TensorBoard's): a fact and the number
  // of the record that it is from. For readers that were given that format.
  void ReadFact(const LogFact& fact, uint64_t record);
  // Nothing more follows for now: what waits for its step line is told, and a
  // slow log's program is recognised from fewer lines.
  void Flush();
  // Nothing more follows at all.
  void Finish();

  // What the log says of the run: precision, fixed scale, clip norm; and in
  // `settings` "untrained_loss" where it names the vocabulary,
  // "nonfinite_loss", the term of the loss that was not finite first, or "",
  // and "loss", "cross_entropy" where every loss is named so, "negative" of an
  // objective, "accuracy" of what one lacks, "reward" where none but that of a
  // reward is, "contrastive", "denoising"; "begins", "trained" where it loads a
  // checkpoint before its first step, "resumed" where it goes on from one;
  // "objective_moves", "600-700 1200-1200": steps between which a printed
  // weight or length of the objective moved, or terms were added to it;
  // "resumed_after": the step from which the program went on after it broke
  // off, or from a checkpoint; "losses", "of_one_aim" where lines of their own
  // show several; "evaluation_not_finite", "3350 val_loss": the step from which
  // on that is none, or ""; of the same form "term_not_finite", of a term of a
  // loss that is finite, "layer_lost_gradient" and "layer_without_gradient" (a
  // norm of exactly 0, and never another one); "learning_rates", "exact";
  // "scores_lowest", how many in a row are the lowest of all while others were
  // higher, or ""; "scores_worst", in how many lines all are;
  // "evaluations_same", how many losses of evaluations are all the same to the
  // last digit, or ""; "norms_not_finite", how many means of norms in a row are
  // none, or "", and "norms_not_finite_since", the step of the first; "score"
  // and "evaluation_high", as ScoreRow::Text: a return or accuracy that is
  // nearer to the first ones than to the best, an evaluation's loss far above
  // the lowest, or ""; "latents_unused", the same of the divergence of an
  // autoencoder's latents, that is next to nothing; with " end" where no more
  // follow; "score_best", "840 0.1 0.98 0.02": the step of the best, the first,
  // the best, the noise; "accuracy", "0.1": the mean of many;
  // "evaluation_accuracy", the highest of five evaluations and more.
  const RunDescription& run() const { return run_; }
  const std::optional<LogStopped>& stopped() const { return stopped_; }
  // How the program ended, where its last lines say it: no step line follows,
  // and hardly any other.
  std::optional<LogBroke> broke() const;
  // The log's step lines show no step: they were counted.
  bool counts_steps() const { return assembler_.counts_steps(); }
  // Its lines are numbers, and nothing says of what.
  bool has_bare_numbers() const { return bare_.unnamed(); }
  // Some records stand for an epoch each.
  bool tells_epochs() const { return run_.settings.contains("records"); }
  // No loss was read, but an objective that rises (an ELBO): the loss is the
  // negative of it.
  bool negates() const { return negates_; }
  // A step line was read, and not lines of a library's scaler alone.
  bool has_step_lines() const { return assembler_.has_step_lines(); }
  // As MappedColumns::Missing.
  std::vector<std::string> MissingColumns() const { return columns_.Missing(); }
  const Recogniser& recogniser() const { return recogniser_; }
  // Read so far; of a log without lines, records.
  uint64_t lines() const {
    return std::max(recogniser_.lines() - arrays_.rows(), records_);
  }

 private:
  void TellSeries() {
    if (!std::exchange(series_told_, true)) {
      run_.settings.emplace("losses", "of_one_aim");
    }
  }
  void Take(const LogFact& fact, uint64_t line);
  void TakeSetting(const LogFact& fact);
  void Put(const char* name, std::string_view value);
  void TakeStop(const LogFact& fact, uint64_t line);
  // The newest step line showed already what was not finite.
  bool IsShown(const LogFact& stop) const {
    const bool later = stop.step && *stop.step > shown_step_;
    return !later && (stop.has(StepField::kLoss) ? loss_bad_ : norm_bad_);
  }
  void TakeBroke(const LogFact& fact, uint64_t line);
  void NoteProgress(const LogFact& fact, uint64_t line);
  // A loss was left out before that of `fact`. A term alone was not all of it,
  // unless nothing is left.
  bool LostBefore(const LogFact& fact) {
    if (!fact.has(StepField::kLoss)) return false;
    const bool of_term = !std::exchange(lost_term_, {}).empty();
    return lost_losses_ > 0 || (of_term && fact[StepField::kLoss] == 0);
  }
  // A term that is said again before a step line shows is of another batch,
  // which no line shows: as much as a batch's loss.
  void NoteLost(std::string_view term) {
    if (term.empty() || term == lost_term_ || lost_losses_ > 0) {
      ++lost_losses_;
      lost_term_.clear();
    } else {
      lost_term_ = term;
    }
  }
  void TakeAfterLost(const LogFact& fact, uint64_t line);
  void TakeWithoutLoss(const LogFact& fact, uint64_t line);
  void NoteMeanNorm(const LogFact& fact);
  void NoteTerm(const LogFact& fact);
  void NoteKind(const LogFact& fact);
  void NoteEvaluation(const LogFact& fact);
  void NoteWorst(const LogFact& fact) {
    if (!fact.scores_worst) return;
    all_worst_ &= *fact.scores_worst;
    if (worst_.Take(all_worst_)) Put("scores_worst", worst_.Text());
  }
  void NoteSame(const LogFact& fact);
  void NoteAccuracy(const LogFact& fact);
  void NoteScore(const LogFact& fact);
  void NoteLatents(const LogFact& fact);
  void NoteHigh(const LogFact& fact);
  void TellScore(const char* name, const ScoreRow& row, bool ended);
  // Returns the newest step; where lines show none, they are counted.
  // Records may wait for others: of these the newest that a line showed.
  int64_t Place() const {
    return newest_step_ >= 0  ? newest_step_
           : shown_step_ >= 0 ? shown_step_
                              : progress_;
  }
  void NoteAxis();
  void NoteLayers();
  void NoteShown(const LogFact& fact, uint64_t line);
  void NoteStep(const LogFact& fact);

  RunDescription run_;
  std::optional<LogStopped> stopped_;
  std::optional<LogBroke> broke_;  // since the newest step line
  bool broke_follows_ = false;     // because of another process
  bool resumed_ = false;           // since the newest step line, it says
  uint64_t last_words_ = 0;        // line of the newest of them
  int64_t newest_step_ = -1;       // that a line showed; -1: none did
  int64_t progress_ = 0;           // step lines
  int64_t shown_step_ = -1;        // by the newest step line
  bool layer_waits_ = false;       // for the step since when it has none
  MappedColumns columns_;
  Assembler assembler_;
  StepAxis axis_;
  NormLines norms_;
  ZeroLayers zeros_;
  // Ours. A metric that is no number from the start on has nothing to say.
  TermNews term_{{.row = 3, .from_start = 8}};
  TermNews metric_{{.row = 8, .from_start = INT32_MAX, .finite = 16}};
  Recogniser recogniser_;
  LineJoiner joiner_;
  DictBlocks blocks_;
  RecordJoiner headed_;
  ArrayRows arrays_;
  uint64_t records_ = 0;  // of ReadFact
  PlainLine plain_;
  BareNumbers bare_;
  RunningMean mean_;
  ScoreCourse score_;
  double lowest_score_ = HUGE_VAL;
  double highest_score_ = -HUGE_VAL;
  RowNews<32> at_lowest_;  // scores, of which others were higher; ours
  double mean_score_ = 0;
  RowNews<8> bad_norms_;         // means that are not finite; ours
  int64_t bad_norms_since_ = 0;  // step of the first of that row
  // Accuracies of evaluations.
  int64_t accuracies_ = 0;
  double lowest_accuracy_ = 0;
  double highest_accuracy_ = 0;
  RowNews<8> worst_;      // lines whose scores are the worst there are; ours
  ScoreRow evaluations_;  // far above the lowest
  ScoreRow latents_;      // next to their prior
  double high_loss_ = 0;  // the newest of these
  // Evaluations in a row that were not finite, from the first record on, of
  // lines without steps.
  int64_t evaluates_not_ = 0;
  std::string bad_evaluation_;  // since when, and which; empty: it is finite
  int64_t lost_losses_ = 0;     // since the newest step line
  std::string lost_term_;       // the same, of a loss; empty: none
  bool all_worst_ = true;       // scores so far
  bool loss_bad_ = false;       // the newest one
  bool norm_bad_ = false;       // the newest step line's
  bool loss_shown_ = false;     // by any step line
  bool series_told_ = false;    // settings: losses
  bool other_loss_ = false;     // one was named so that it may be any
  bool announced_ = false;      // another objective, since the newest step line
  bool negates_ = false;        // the newest one
  bool goes_on_ = true;         // since it stopped
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LOG_READER_H_
