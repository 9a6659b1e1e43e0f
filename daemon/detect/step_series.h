// StepSeries: the series of one optimizer of one rank that rules on levels
// judge.

#ifndef NANWATCH_DETECT_STEP_SERIES_H_
#define NANWATCH_DETECT_STEP_SERIES_H_

#include <cmath>
#include <cstdint>

#include "detect/at_rest.h"
#include "detect/program.h"
#include "detect/rate_course.h"
#include "detect/running_sum.h"
#include "detect/series.h"
#include "detect/step_logs.h"
#include "model/run.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Trivially copyable.
struct StepSeries {
  // What the loss is like, by what the run says of itself.
  enum class Kind : uint8_t {
    kUnknown,
    kPlain,
    kWords,
    kRewards,
    kContrastive
  };

  Series loss;
  Series grad_norm;
  RateCourse rate;
  double newest_loss = 0;  // as it came; 0: none
  double last_loss = 0;    // before the newest record's
  AtRest at_rest;
  RunningSum sum;
  Kind kind = Kind::kUnknown;  // kUnknown: no record so far
  bool norm_taken = false;     // the newest record's, into grad_norm

  bool follows_rewards() const { return kind == Kind::kRewards; }
  // The loss is a sum of all so far. Where norms rise with it, it diverges.
  bool is_sum() const { return sum.Seen() && !grad_norm.out(); }

  // Takes in a record that `scaler` has seen. A learning rate that goes back up
  // to where it was begins new levels.
  void Add(const RunDescription& run, const StepRecord& record,
           const RecordLogs& logs, const ScalerTracker& scaler) {
    if (kind == Kind::kUnknown) kind = KindOf(run);
    const bool idle = record.has(StepField::kLearningRate) &&
                      record[StepField::kLearningRate] == 0;
    rate.Note(record, idle && TellsRatesExactly(run));
    if (rate.restarts()) {
      loss.Renew();
      grad_norm.Renew();
    }
    last_loss = newest_loss;
    if (record.has(StepField::kLoss)) {
      newest_loss = record[StepField::kLoss];
      if (sum.Add(newest_loss)) loss.Renew();
      AddLoss(static_cast<float>(record[StepField::kLoss]), logs.loss,
              record.step);
    }
    norm_taken = false;
    if (record.has(StepField::kGradNorm) && scaler.fate() != Fate::kLost) {
      AddNorm(static_cast<float>(record[StepField::kGradNorm]), logs.grad_norm,
              record.step);
      if (grad_norm.values() > 0 && !grad_norm.out()) {
        at_rest.Learn(record);
      }
    }
  }

 private:
  // Of 134 series of public logs: 0.06 is the upper quartile of the noise of
  // losses, 0.30 that of norms; first records move five and two times as far.
  // Losses of language models that go on move half as far. Of 27 healthy
  // trainings on rewards (DQN, PPO, actor-critic, REINFORCE, TD3, SAC): 0.6 is
  // the upper quartile.
  static constexpr NoisePrior kLoss = {
      .running = 0.06f, .fresh = 0.30f, .shown = true};
  static constexpr NoisePrior kWords = {
      .running = 0.03f, .fresh = 0.30f, .shown = true};
  static constexpr NoisePrior kRewards = {.running = 0.6f, .fresh = 0.6f};
  static constexpr NoisePrior kNorm = {.running = 0.30f, .fresh = 0.60f};
  static constexpr float kLeastNorm = 1e-30f;  // ours
  static constexpr int32_t kFew = 32;    // records that show a level; ours
  static constexpr int32_t kMany = 256;  // records of another one; ours
  static constexpr float kOtherNorm = 0.693f;  // ln 2, as gnorm_spike's
  static constexpr float kFarNorm = 2.303f;    // ln 10, as gnorm_explosion's

  // Rewards grow in health, and losses with them.
  static constexpr int32_t kSoon = 16;    // records of a level; ours
  static constexpr int32_t kFilled = 64;  // records that rise no more; ours
  // ln of ln 262,144: four times the longest queue in use, MoCo's.
  static constexpr float kMostGuessing = 2.523f;

  static Kind KindOf(const RunDescription& run) {
    return FollowsRewards(run)   ? Kind::kRewards
           : IsContrastive(run)  ? Kind::kContrastive
           : TrainsLanguage(run) ? Kind::kWords
                                 : Kind::kPlain;
  }
  // What still climbs is no level.
  static bool Stays(const Series& s, int32_t records) {
    return s.out() && s.excursion().values() > records && !s.climbs();
  }

  // A queue of negatives that fills makes a contrastive loss rise to what
  // guessing among them costs: it begins there.
  bool Fills(float ln) const {
    return kind == Kind::kContrastive && loss.values() > 0 &&
           loss.values() < kFilled && ln <= kMostGuessing &&
           ln > loss.highest();
  }

  void AddLoss(float value, float ln, int64_t step) {
    if (Fills(ln)) loss = Series();
    // Exactly 0 from the beginning: a policy that has no loss yet.
    const bool none = value == 0 && loss.values() == 0;
    if (std::isfinite(value) && !none) {
      const bool first = loss.values() == 0;
      loss.Add(value, ln, step,
               kind == Kind::kRewards          ? kRewards
               : first && kind == Kind::kWords ? kWords
                                               : kLoss);
    }
    // Other data, or a curriculum's next stage; or other rewards.
    if ((Stays(loss, kFew) && loss.rise() < Series::kRise) ||
        (kind == Kind::kRewards && Stays(loss, kSoon))) {
      loss.Accept();
    }
  }

  void AddNorm(float value, float ln, int64_t step) {
    // 0 is a placeholder in many logs.
    if (!std::isfinite(value) || value < kLeastNorm) return;
    grad_norm.Add(value, ln, step, kNorm);
    norm_taken = true;
    if ((Stays(grad_norm, kFew) && grad_norm.rise() < kOtherNorm) ||
        (Stays(grad_norm, kMany) && grad_norm.rise() < kFarNorm) ||
        (kind == Kind::kRewards && Stays(grad_norm, kSoon))) {
      grad_norm.Accept();
    }
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STEP_SERIES_H_
