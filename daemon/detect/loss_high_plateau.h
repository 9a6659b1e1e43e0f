// Rule 35, loss_high_plateau: what the training had learned is lost, and stays
// lost. It sees what loss_spike cannot: a loss that creeps up so slowly that
// its own recent level follows. For a language model there is a bound that
// needs no history (Guessing). A restart that goes on with the steps of the
// attempt before goes on with its levels.

#ifndef NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
#define NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "detect/context.h"
#include "detect/course.h"
#include "detect/episode.h"
#include "detect/guessing.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossHighPlateau {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kLostShare,
    kHold,
    kCriticalHold,
    kGuessing,
    kGuessingSteps,
    kClear,
    kRisen,
    kBlown,
    kCriticalSteps
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  // Two blocks without a way back are enough where none follows.
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;
  // Returns levels for the attempt that follows; absent: too few losses.
  std::optional<LossReached> Reached() const;

 private:
  // Records that show a level and another.
  static constexpr int32_t kCreptFor = 128;     // records; ours
  static constexpr int32_t kLeastRecords = 64;  // ours
  static constexpr float kSomeLearned = 0.25f;  // of the first level; ours
  static constexpr float kLearnedNoise = 6;     // deviations of one; ours
  static constexpr float kRisenNoise = 3;  // deviations, ours: levels are means
  static constexpr float kAllLost = 0.85f;  // of what was learned; ours

  // Levels, as the series has them.
  struct Levels {
    float first = 0;
    float best = 0;
    float at = 0;     // where the loss stands
    float noise = 0;  // of single losses
    float calm = 0;   // the same, while it was at its best
    float unit = 0;   // as Series::unit()
    // Returns the loss that is `y` there.
    float Loss(float y) const { return Series::ValueAt(y, unit); }
    // Beyond noise. Where that grew since, it hides nothing.
    bool LearnedClearly() const { return first - best >= kLearnedNoise * calm; }
    bool LearnedSome() const { return best <= first + LnOf(1 - kSomeLearned); }
  };
  struct Steps {
    int64_t newest = -1;  // with a loss; -1: none
    int64_t high = 0;     // the first of the high level
    int64_t healthy = 0;  // of healthy_
    int64_t best = 0;     // of the best level
    // Of the lowest of the first losses, or of the first that left them since.
    int64_t left = 0;
  };
  // Losses of guessing; 0: not known.
  struct Untrained {
    float words = 0;    // of a language model
    float classes = 0;  // of a fresh classifier
    float loss() const { return words > 0 ? words : classes; }
  };
  struct Courses {
    Course high;  // of the losses that are high, in a row
    // Of where the loss stands, since its best; of one that crosses 0, of its
    // sizes, since it did.
    Course standing;
    Course first;      // of the first losses
    float lowest = 0;  // of these
  };
  struct Kind {
    bool evaluation = false;  // it rises as data are learned by heart
    bool means = false;       // step lines are means over the steps they cover
    bool classes = false;     // a cross-entropy: no term's weight is annealed
    bool objective = false;   // the negative of one that rises
  };
  struct Way {
    bool creeps = false;  // up since its best level, or swings ever wider
    bool to_end = false;  // it was high when all was over
  };
  // What the finding is about.
  enum class About : uint8_t { kLost, kGuessing, kNotLoaded, kCrept };

  void Begin(const StepContext& c, Thresholds t);
  Severity NoteGuessing(const StepContext& c, Thresholds t);
  // Takes in where the loss stands. Returns what that is called if it stays.
  Severity NoteLevels(const StepContext& c, Thresholds t);
  void NoteHigh(const StepContext& c);
  Severity TriggerOf(Severity ceiling, int64_t step, Thresholds t) const;
  // Every record since the restart was high, and those before it were not.
  bool LostAtRestart() const;
  // What the newest level may be called if it stays; kNone: it is not high.
  Severity Ceiling(Thresholds t) const;
  Severity AboveAll(Thresholds t) const;
  Severity OfCrossing() const;
  // Is it up for a good part of the run, without a way back?
  bool StaysUp() const;
  // Is all lost that was learned in a few records? Takes that for its levels.
  bool LostFew();
  // Does it stand above its best level, beyond noise?
  bool IsAboveBest() const;
  // Was it high to the end, and all is lost?
  bool IsLostAtEnd(Thresholds t) const;
  // Did it come up since its best level without a jump?
  bool RisesEvenly() const;
  // Has it crept up ever since its best level, and stands there?
  bool Crept() const;
  // Does it swing about 0 ever wider?
  bool Swings() const;
  std::string SayGuessing(Tense tense) const;
  std::string SayNotLoaded() const;
  std::string SayLost(Tense tense) const;
  std::string SayCrept(Tense tense) const;

  Episode episode_;
  Guessing guessing_;
  Courses courses_;
  LossReached before_;  // of the attempt before; no records: there is none
  Levels levels_;       // of the newest record
  Levels told_;         // of the newest that was high
  Untrained untrained_;
  float newest_ = 0;     // loss
  float healthy_ = 0;    // level of the newest record that was not high
  int32_t records_ = 0;  // of this attempt; 0: none
  int32_t high_ = 0;     // records in a row
  int32_t stood_ = 0;    // of the newest high level, also when it is over
  About about_ = About::kLost;
  Kind kind_;
  Way way_;
  Steps step_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_HIGH_PLATEAU_H_
