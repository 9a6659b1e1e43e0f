// LogFact: one thing that a line of another program's log says, in the field's
// terms and in no program's own. A format turns lines into facts; the assembler
// turns facts into step records.

#ifndef NANWATCH_LOGS_FACT_H_
#define NANWATCH_LOGS_FACT_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/step.h"

namespace nanwatch {

// In place of a term's name: the program printed 0, which is taken for NaN.
inline constexpr std::string_view kPrintedAsZero = "0";

// What a printed gradient norm says of its update: some libraries (DeepSpeed)
// show 0, or the norm of before, where they skipped the step.
enum class NormTold : uint8_t {
  kOwn,    // or none, or zeros from the start
  kZero,   // after larger ones
  kAgain,  // the one of the line before: that may be chance
  kOld,    // the same, in too many digits or too often for chance
};

struct LogFact {
  enum class Kind : uint8_t {
    kProgress,  // a line of numbers, usually with a step
    kOverflow,  // an update overflowed
    kScale,     // the loss scale is now another (raised, or told after
                // kOverflow)
    kStopped,   // the program gave up because of its numerics; text says why,
                // a value what was not finite, or 0 what grew too large
    kBroke,     // the program ends by an error: text says which
    kOtherObjective,  // the loss is made of something else from here on
    kResumed,         // it goes on from a checkpoint, its lines say
    kEvaluated,  // the loss of an evaluation, by the name in text, where it
                 // is not finite or far above the lowest, or was so before
    kAccuracy,   // an evaluation's, a share: `score`
    kNorm,       // a gradient norm in a line of its own, of the step line above
    kSetting,    // `setting` with `number` or `text`
    kUnderstood,  // the format's own line, which says nothing of the above
    kScored,      // `score`, a return, in a line without a loss
    kLostLoss,    // a batch's was not finite and left out: the next line's, if
                  // that shows 0, or one that no line shows; or of the next
                  // line's the term in text, and the rest was learned
  };
  Kind kind = Kind::kProgress;
  uint32_t at = 0;  // byte of the line at which it was read

  std::optional<int64_t> step;
  bool step_counted = false;     // `step` is not printed: lines were counted
  bool step_of_counter = false;  // but by a library's lines (step_axis.h)
  // Numbers of a step: those of StepField that the line shows. A loss scale is
  // the one after the update, where the program prints both.
  uint32_t present = 0;
  std::array<double, kStepFields> value{};
  // The scale was printed rounded to zero: it is value[kLossScale] at most
  // (model/scale_bound.h), and not zero.
  bool scale_at_most = false;
  // kProgress: such lines always show a loss, and this one does not.
  bool loss_left_out = false;
  // kProgress: the loss is one of adversaries' (a GAN's), which rise and fall
  // as one of them wins: its level says nothing. With `scaler` each has its
  // own fact.
  bool of_adversary = false;
  // kProgress: the loss is the negative of an objective that rises.
  bool of_objective = false;
  // kProgress: the line shows rewards of an environment.
  bool of_rewards = false;
  // kProgress: the line shows an accuracy among classes.
  bool of_classes = false;
  // kProgress: the first of these; NaN: none. kScored.
  double score = std::numeric_limits<double>::quiet_NaN();
  // kProgress, kScored: all scores of the line (F-measures, error rates) are
  // the worst that they can be, and no accuracy is above 0; absent: it has
  // none.
  std::optional<bool> scores_worst;
  // kEvaluated: so many so far, all the same to the last digit; 0: they are
  // not any more; absent: no news.
  std::optional<int64_t> same;
  // kProgress: how far an autoencoder's latents are from their prior (KL).
  std::optional<double> divergence;
  // kProgress: what the loss is made of is another than in the line before
  // (objective_knob.h, added_terms.h).
  bool objective_moves = false;
  // kProgress: the loss is one by a word that means other things, too: only
  // where no line of the log names a loss.
  bool guessed = false;
  bool of_evaluation = false;  // kProgress: the loss is an evaluation's
  // kProgress: the loss is a cross-entropy, by its name.
  bool cross_entropy = false;
  NormTold norm_told = NormTold::kOwn;  // kProgress
  // kProgress: the numbers are means of many updates: the scale is none that
  // an update had, and one overflow makes a mean of norms infinite.
  bool means = false;
  // kProgress: they are an epoch's, its means or its last ones, as `means`;
  // `step` is the epoch.
  bool of_epoch = false;
  // kProgress: the steps since the line before count skipped updates, too,
  // which is not the format's habit (LogFormat::skips_take_steps).
  bool skips_took_steps = false;
  // kProgress: a library's line on the step (DeepSpeed's counter), which may
  // stand beside the program's own.
  bool beside = false;

  std::optional<double> scale_before;  // of the update, where it is printed
  // kOverflow: its step, by a progress bar on the line.
  std::optional<int64_t> in_bar;
  // kOverflow: told where the step line behind it is of the same update, by
  // programs that do not tell each.
  bool of_next_line = false;
  // The update was applied all the same (true) or not (false).
  std::optional<bool> applied;
  std::optional<bool> overflow;  // kProgress: a flag of the line's newest step
  // Counters of kProgress lines.
  std::optional<int64_t> skipped_since;  // since the line before
  std::optional<int64_t> skipped_total;  // since the start
  std::optional<int64_t> nan_since;      // of the skipped: the loss not finite

  // kProgress: what stands before the loss, and the number of its words
  // (loss_series.h); 0: not known.
  std::string_view before_loss;
  uint32_t words = 0;
  // Such words come in turn with others, lines before them or behind show.
  bool words_in_turn = false;

  std::optional<int32_t> rank;    // where the line names one
  std::optional<int32_t> scaler;  // number of the loss scaler, if it has one

  // kSetting: what is set, as the run's settings call it, or "precision",
  // "clip_norm", or "vocabulary" (an untrained language model's loss is the log
  // of its tokens).
  std::string_view setting;
  double number = 0;
  // kEvaluated: the lowest such loss, and the first; 0: they are not told.
  double lowest = 0;
  double first = 0;
  // Of the line: what kStopped and kSetting say; "resumed" of kResumed, or
  // "trained" where it may be of weights alone; of kProgress the term of the
  // loss that is not finite (loss_terms.h), or kPrintedAsZero.
  std::string_view text;
  bool text_of_metric = false;  // kProgress: it names a metric, and no term

  bool has(StepField f) const {
    return (present >> static_cast<int>(f) & 1) != 0;
  }
  bool is_not_finite(StepField f) const {
    return has(f) && !std::isfinite((*this)[f]);
  }
  double operator[](StepField f) const { return value[static_cast<int>(f)]; }
  LogFact& Set(StepField f, double v) {
    present |= 1u << static_cast<int>(f);
    value[static_cast<int>(f)] = v;
    return *this;
  }
  // Of a step line: it says something of the numerics.
  bool says_health() const {
    return kind == Kind::kProgress &&
           (has(StepField::kLoss) || has(StepField::kLossScale) ||
            has(StepField::kGradNorm) || skipped_total || skipped_since ||
            loss_left_out);
  }
  void Unset(StepField f) { present &= ~(1u << static_cast<int>(f)); }
};

// The facts of one line, in the order in which they stand there. Views point
// into the line.
using FactList = std::vector<LogFact>;

// A fact with the line it is from; views in it are valid during the call.
using FactSink = std::function<void(const LogFact&, uint64_t line)>;

// What programs call a number of a step.
struct NamedField {
  std::string_view name;
  StepField field;
};
// Sets the number that is called `name`, if one of `names` is.
inline void SetNamed(std::span<const NamedField> names, std::string_view name,
                     double value, LogFact* fact) {
  for (const NamedField& each : names) {
    if (each.name == name) fact->Set(each.field, value);
  }
}

// A fact of `kind`, appended to `facts`.
inline LogFact& AddFact(LogFact::Kind kind, size_t at, FactList* facts) {
  LogFact& fact = facts->emplace_back();
  fact.kind = kind;
  fact.at = static_cast<uint32_t>(at);
  return fact;
}
inline void AddSetting(std::string_view setting, double number, size_t at,
                       FactList* facts) {
  LogFact& fact = AddFact(LogFact::Kind::kSetting, at, facts);
  fact.setting = setting;
  fact.number = number;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FACT_H_
