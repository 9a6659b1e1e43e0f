// ColumnFact: the numbers of one line or row of a log of no known program,
// gathered to a step's fact.

#ifndef NANWATCH_LOGS_COLUMN_FACT_H_
#define NANWATCH_LOGS_COLUMN_FACT_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "logs/column_names.h"
#include "logs/epoch_lines.h"
#include "logs/epoch_steps.h"
#include "logs/fact.h"
#include "logs/objective_knob.h"
#include "logs/printed_scale.h"
#include "logs/rounded_steps.h"

namespace nanwatch {

// Of two columns that mean the same the first counts.
class ColumnFact {
 public:
  // What only stands for a loss is worth no more (WorthOf).
  static constexpr int kWorthOfStandIn = 3;
  static constexpr int kWorthOfSquares = 4;
  static constexpr int kWorthOfMean = 6;
  // Returns in a row that are NaN by more than chance: an episode ends in one
  // of so many windows; ours.
  static constexpr int kMissed = 8;

  explicit ColumnFact(ScaleText scales) : scales_(scales) {}

  void Begin(size_t at);
  // `text`: the number as it stands there; no number is absent. `ends_line`:
  // it touches the line's end, and a scale that lacks digits of the one
  // expected was cut there.
  void Add(ColumnMeaning meaning, std::string_view text,
           bool ends_line = false);
  void AddNumber(ColumnMeaning meaning, double value);
  // A step that is printed in thousands.
  void AddRoundedStep(RoundedCount step) {
    if (!fact_.step) fact_.step = rounded_.Step(step);
  }
  // A learning rate without a sign: the line may be prose all the same.
  void AddRateInWords(double value) {
    if (!fact_.has(StepField::kLearningRate)) {
      fact_.Set(StepField::kLearningRate, value);
    }
  }
  // A loss scale that is printed as `text` and is `value`.
  void AddScale(std::string_view text, double value, bool ends_line);
  // The line's epoch, of which a part may be over ("epoch": 1.37): where steps
  // begin anew in each, Tell() tells the run's; of a line without a step the
  // epoch is the step, if no line of the log has one.
  void SetEpoch(double epoch);
  // The line is the first of another run: where its step is counted, anew.
  void BeginAnew() { lines_.BeginAnew(); }
  // How many steps begin anew in each epoch, where the line shows it.
  void SetWhole(int64_t steps) { whole_ = steps; }
  // The line's loss is the mean of its epoch's steps so far: leaves what those
  // since the line before came to. REQUIRES: has_step().
  void TakeMeanApart();
  bool has_step() const { return fact_.step || counter_; }
  // It counts updates or episodes, and what else it has may be the step.
  bool has_only_counter() const { return counter_ && !fact_.step; }
  // REQUIRES: has_step().
  int64_t step() const { return fact_.step ? *fact_.step : *counter_; }
  // Of lines that count something else.
  void DropStep() {
    fact_.step.reset();
    counter_.reset();
  }
  bool has_epoch() const { return epoch_.has_value(); }
  // A line of the log had a step.
  bool steps_seen() const { return steps_seen_; }
  // Takes the line's reward for an objective, where no line of the log showed a
  // loss and this one says nothing else. False: it is none; but beside losses
  // it says what the training is. `is_record`: a line without a place is one,
  // too.
  bool AddReward(bool is_record = false);
  // The line's loss follows rewards.
  void NoteRewards() { fact_.of_rewards = true; }
  // The same of all lines from here on, but those of a GAN.
  void NoteRewardsApart() { rewards_apart_ = true; }
  // Scores of the log are rewards: its words speak of episodes.
  void NoteEpisodes() { of_episodes_ = true; }
  // Takes an evaluation's loss for the line's, on the same terms.
  bool AddEvaluation(double loss);
  // Appends the line's reward and scores, where it says nothing else. False: it
  // has none.
  bool TellScore(FactList* facts) const;
  // The line's loss is a term that is not finite, and nothing else.
  bool IsOfTerm() const {
    return fact_.has(StepField::kLoss) && worth_ == 0 && !fact_.of_adversary;
  }
  void DropTerm() {
    if (IsOfTerm()) fact_.Unset(StepField::kLoss);
  }
  // Leaves out what only stands for a loss, where the log shows another. True:
  // there is one.
  bool KeepsLoss() {
    DropStandIn();
    return fact_.has(StepField::kLoss);
  }
  // Says something of the numerics: loss, scale, norm or overflow.
  bool SaysHealth() const;
  // The same, and with a step, an epoch or a second number: more than prose
  // that happens to hold "loss: 3".
  bool LooksLikeStep() const;
  // Appends what was gathered.
  void Tell(FactList* facts);
  const LogFact& fact() const { return fact_; }

 private:
  // Lines of one step and no other, with which a log may begin.
  static constexpr int kSame = 32;
  bool StandsStill(int64_t step);
  void ChooseStep();
  void TakeTotal();
  void DropStandIn();
  void AddTerm();
  bool IsMeanOfNothing();
  void AddSkipped(double value);
  void AddAdversary(double value);
  void AddRank(double value);
  // It is none if one of the log's is below 0, or all are whole numbers.
  void AddWeakNorm(double value) {
    real_norm_ |= value != std::floor(value);
    no_norm_ |= value < 0;
    if (real_norm_ && !no_norm_ && !weak_norm_) weak_norm_ = value;
  }
  // Takes in a reward or a score. False: it is none.
  bool NoteHowWell(ColumnMeaning meaning, double value);
  void NoteWorst(bool worst) {
    fact_.scores_worst = worst && fact_.scores_worst.value_or(true);
  }
  void NoteBetter() { fact_.scores_worst = false; }
  void NoteErrorRate(double value);
  void NoteScore(double value) {
    if (std::isnan(fact_.score) && std::isfinite(value)) fact_.score = value;
  }
  void WeighLoss(ColumnMeaning meaning, double value);
  // Not of an error's number or count: one of the log's was no whole number.
  bool IsReal(double value);
  void TellRival(FactList* facts);
  bool IsCut(std::string_view scale);

  const ScaleText scales_;
  LogFact fact_;
  std::optional<double> rival_;  // loss of the second of two adversaries
  std::optional<double> reward_;
  int missed_ = -1;  // rewards in a row that are none, behind one; -1: none yet
  bool of_stand_in_ = false;  // the newest loss that was told is a guess
  bool of_episodes_ = false;
  bool adversaries_seen_ = false;
  bool begun_ = false;           // a fact was told
  bool went_on_ = false;         // one had a step above 0
  bool rewards_apart_ = false;   // names or lines without a loss say rewards
  std::optional<double> term_;   // of the loss, that is not finite
  std::optional<double> total_;  // of the loss, if anything
  bool real_total_ = false;      // one of them was no whole number
  std::optional<double> weak_norm_;  // of a gradient, if anything
  bool real_norm_ = false;           // one of them was no whole number
  bool no_norm_ = false;             // one of them was below 0
  std::optional<double> divergence_;
  bool reconstructs_ = false;  // the line's loss is an autoencoder's
  bool may_be_term_ = false;   // the first adversary's, of a loss of the whole
  std::optional<int64_t> epoch_;
  int64_t whole_ = 0;               // 0: not told
  std::optional<int64_t> counter_;  // of updates or episodes
  bool two_steps_ = false;          // it is a second one by a step's name
  // Of the line before, where both were told; then which of them is the step.
  int64_t counter_before_ = 0;
  int64_t step_beside_ = -1;  // -1: none yet
  bool step_of_counter_ = false;
  bool steps_seen_ = false;
  bool epochs_told_ = false;  // beside a step
  RoundedSteps rounded_;
  SeenEpochSteps steps_;
  int64_t mean_of_ = 0;  // steps of the epoch, in the newest such line
  double sum_ = 0;       // of their losses
  EpochLines lines_;
  Laps laps_;
  std::array<ObjectiveKnob, 4> knobs_;  // the first of a line
  size_t knob_ = 0;                     // of this line: how many
  int worth_ = 0;       // of the loss (WorthOf); 0: none, or an adversary's
  int best_worth_ = 0;  // of any line
  int numbers_ = 0;
  double error_rate_ = 0;  // the first; 0: none
  bool real_ = false;      // a number by a name that others use, too, was none
  bool moved_ = false;     // steps of two lines differed
  int64_t step_ = 0;       // of the newest line, until then
  int same_ = 0;           // lines that showed it
  std::optional<int64_t> epoch_of_step_;  // the newest
  // "skipped" as a number is a count since the start, until it goes down: then
  // it is of each line.
  double skipped_before_ = 0;
  bool skipped_of_line_ = false;
  double scale_before_ = 0;  // of the newest fact that had one
  std::string cut_;          // the scale of the line before, if it was cut
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COLUMN_FACT_H_
