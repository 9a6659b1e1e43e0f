// Rule 36, loss_not_decreasing: after so many steps the loss is still where it
// began, the model only guesses, or the loss does not move at all any more.
// Asked of the beginning alone: late in a training all losses fall by less than
// their noise. A run that was resumed did its falling before.

#ifndef NANWATCH_DETECT_LOSS_NOT_DECREASING_H_
#define NANWATCH_DETECT_LOSS_NOT_DECREASING_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/course.h"
#include "detect/episode.h"
#include "detect/standstill.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossNotDecreasing {
 public:
  static const RuleSpec kSpec;
  static constexpr bool kOfOneLoss = true;
  enum Threshold { kSteps, kMinShare, kGuesses };
  // An attempt that begins at a later step was resumed, unless its records are
  // as far apart.
  static constexpr int64_t kResumed = 1000;  // steps; ours

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  // Nothing is trained by a loss and gradients of 0, nor by a loss that stopped
  // at its last digit, whatever they follow.
  bool IsAbsurd() const {
    return about_ == About::kFrozen &&
           (still_.loss() == 0 ? still_.without_gradient() > 0
                               : still_.moved());
  }
  void Describe(Finding* finding) const;

 private:
  // What the finding is about.
  enum class About : uint8_t {
    kStands,
    kFrozen,
    kGuesses,
    // By what else the log prints.
    kScoreless,
    kUntouched,  // by the evaluations
    kUnmoved,    // by updates whose norms are not finite
  };
  static constexpr float kLearned = 0.8f;  // of where it stood; ours

  // Is every score so far the worst (kScoreless), every evaluation the same
  // (kUntouched), or no mean of norms finite (kUnmoved), and does the loss
  // stand now? Else kStands.
  About ByEvaluations(const RunDescription& run) const;
  bool IsOfEvaluations() const { return about_ >= About::kScoreless; }
  // If no record follows.
  struct AtEnd {
    float cost = 0;       // of guessing, if it guesses
    bool stands = false;  // it has not moved
    // Of one that is the same to the last digit in all records.
    Severity same = Severity::kNone;
  };

  void Begin(const StepContext& c, float loss);
  Severity On(Severity trigger, bool clean, int64_t step);
  // Has it not moved for long? Notes whether it settled. `cost`: of guessing,
  // if it guesses; else 0.
  bool Stands(const StepContext& c, Thresholds t, float cost);
  // The first record may have any number of steps before it.
  bool OnlyMeansThatStand() const {
    return records_ >= kMeans && means_ == records_ - 1;
  }
  // Is the rate warming up, or has been lately?
  bool Waits(const StepContext& c, float loss, Thresholds t);
  // Returns what guessing costs if it guesses, and nothing else so far; else 0.
  float Guesses(const StepContext& c) const;
  // Does no batch move it?
  bool IsSilent() const { return still_.moves() <= kSilent; }
  // So little that its level tells what it is?
  bool IsSteady() const { return still_.moves() <= kSteady; }
  bool SurelyGuesses(const StepContext& c) const;
  // Was it 0 in all records so far, without a gradient, beside a rate?
  bool IsFrozen(const StepContext& c) const;
  void DescribeFrozen(Finding* finding) const;
  // Judges a loss that moved before, and is the same since.
  bool HasStopped(const StepContext& c) const;
  // Is it the same to the last digit since the start?
  bool NeverMoved() const;
  Severity SameSoFar(const StepContext& c) const;

  // Where it stood: a logarithm.
  float Stood() const;
  // It stands no more; and, if so, it learned much since.
  bool HasLeft() const { return about_ != About::kFrozen && episode_.clears(); }
  bool Learns() const;
  static constexpr int32_t kMeans = 8;  // records; ours
  // Moves of a loss that no batch moves, as of a net that says the same of all:
  // batches move those of healthy ones by ten times that.
  static constexpr float kSilent = 0.003f;  // of the loss; ours
  static constexpr float kSteady = 0.001f;  // of the loss; ours

  Episode episode_;
  Course course_;    // of the losses since the rate was at its highest
  float level_ = 0;  // where the loss stands: a logarithm
  float first_ = 0;  // what it began with: a logarithm
  Standstill still_;
  float untrained_ = 0;  // loss of a language model that guesses; 0: not known
  float classes_ = 0;    // the same among as many as the last layer has outputs
  float cost_ = 0;       // what guessing costs, as was found
  AtEnd at_end_;
  int32_t records_ = 0;
  int32_t means_ = 0;  // of those, means over many steps that stand at first_
  int64_t newest_step_ = 0;
  int64_t first_step_ = 0;
  int64_t warm_step_ = 0;  // at which the rate was first at its highest
  About about_ = About::kStands;
  bool settled_ = false;  // it fell, or is not to be judged
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_NOT_DECREASING_H_
