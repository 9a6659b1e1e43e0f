// StepSeries: the series of one optimizer of one rank that rules on levels
// judge.

#ifndef NANWATCH_DETECT_STEP_SERIES_H_
#define NANWATCH_DETECT_STEP_SERIES_H_

#include <cmath>

#include "detect/program.h"
#include "detect/rate_restart.h"
#include "detect/series.h"
#include "model/run.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Trivially copyable.
struct StepSeries {
  Series loss;
  Series grad_norm;
  RateRestart restart;

  // Takes in a record that `scaler` has seen. A learning rate that goes back up
  // to where it was begins new levels.
  void Add(const RunDescription& run, const StepRecord& record,
           const ScalerTracker& scaler) {
    if (restart.Note(record)) {
      loss.Renew();
      grad_norm.Renew();
    }
    if (record.has(StepField::kLoss)) {
      const auto value = static_cast<float>(record[StepField::kLoss]);
      // Exactly 0 from the beginning: a policy that has no loss yet.
      const bool none = value == 0 && loss.values() == 0;
      if (std::isfinite(value) && !none) {
        const bool steady = loss.values() == 0 && TrainsLanguage(run);
        loss.Add(value, record.step, steady ? kWords : kLoss);
      }
      // Other data, or a curriculum's next stage.
      if (Stays(loss, kFew) && loss.rise() < kOtherData) loss.Accept();
    }
    if (record.has(StepField::kGradNorm) && scaler.fate() != Fate::kLost) {
      const auto value = static_cast<float>(record[StepField::kGradNorm]);
      // 0 is a placeholder in many logs.
      if (std::isfinite(value) && value >= kLeastNorm) {
        grad_norm.Add(value, record.step, kNorm);
        if ((Stays(grad_norm, kFew) && grad_norm.rise() < kOtherNorm) ||
            (Stays(grad_norm, kMany) &&
             record.step - grad_norm.excursion().step() > kMany)) {
          grad_norm.Accept();
        }
      }
    }
  }

 private:
  // Of 134 series of public logs: 0.06 is the upper quartile of the noise of
  // losses, 0.30 that of norms; first records move five and two times as far.
  // Losses of language models that go on move half as far.
  static constexpr NoisePrior kLoss = {.running = 0.06f, .fresh = 0.30f};
  static constexpr NoisePrior kWords = {.running = 0.03f, .fresh = 0.30f};
  static constexpr NoisePrior kNorm = {.running = 0.30f, .fresh = 0.60f};
  static constexpr float kLeastNorm = 1e-30f;  // ours
  static constexpr int32_t kFew = 32;    // records that show a level; ours
  static constexpr int32_t kMany = 256;  // records of another one; ours
  static constexpr float kOtherData = 0.405f;  // ln 1.5, as loss_spike's ratio
  static constexpr float kOtherNorm = 0.693f;  // ln 2, as gnorm_spike's

  static bool Stays(const Series& s, int32_t records) {
    return s.out() && s.excursion().values() > records;
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STEP_SERIES_H_
