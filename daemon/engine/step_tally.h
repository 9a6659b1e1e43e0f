// StepTally: what the records of one rank, or of one of its optimizers, amount
// to, for a diagnosis.

#ifndef NANWATCH_ENGINE_STEP_TALLY_H_
#define NANWATCH_ENGINE_STEP_TALLY_H_

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "diagnose/evidence.h"
#include "engine/rising_loss.h"
#include "model/step.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Trivially copyable.
class StepTally {
 public:
  void Add(const StepRecord& record, bool overflow, Fate fate);

  uint64_t updates() const { return updates_; }
  int64_t first_step() const { return first_step_; }  // 0: none came yet
  uint64_t applied() const { return applied_; }
  uint64_t fate_unknown() const { return updates_ - applied_ - lost_; }
  uint64_t overflows() const { return overflows_; }
  uint64_t overflows_last_50() const;
  std::optional<double> scale_now() const { return scale_now_; }

  // Writes its part of the evidence, each.
  void WriteUpdates(RunEvidence* evidence) const;
  void WriteScale(RunEvidence* evidence) const;
  // Writes only what the evidence does not hold yet.
  void WriteFractions(RunEvidence* evidence) const;
  // Adds to what other ranks said.
  void AddLoss(int32_t rank, RunEvidence* evidence) const;
  void AddGradients(RunEvidence* evidence) const;

 private:
  void AddValues(const StepRecord& record, bool overflow, Fate fate);
  void NoteNanNorm(const StepRecord& record, Fate fate);

  uint64_t updates_ = 0;
  int64_t first_step_ = 0;
  int64_t last_step_ = 0;
  uint64_t overflows_ = 0;
  uint64_t applied_ = 0;  // updates of unknown fate count in neither
  uint64_t applied_overflows_ = 0;
  uint64_t lost_ = 0;
  uint64_t overflow_bits_ = 0;  // the newest update is the lowest bit
  uint64_t applied_bits_ = 0;
  uint64_t lost_bits_ = 0;
  uint64_t loss_finite_ = 0;
  uint64_t loss_nonfinite_ = 0;
  uint64_t loss_finite_while_overflow_ = 0;
  int64_t first_nonfinite_loss_step_ = -1;
  int64_t last_nonfinite_loss_step_ = -1;
  int64_t first_kept_nonfinite_loss_step_ = -1;
  int64_t nan_norm_since_ = -1;  // as RunEvidence::nan_norm_before_loss
  RisingLoss rising_;
  double newest_loss_ = 0;
  int64_t same_since_ = 0;  // step: the losses since are the same
  uint64_t same_ = 0;       // of them
  uint64_t norm_finite_ = 0;
  uint64_t norm_nonfinite_ = 0;
  uint64_t norm_nan_ = 0;  // of those
  uint64_t norm_finite_while_overflow_ = 0;
  std::optional<double> zero_fraction_;
  std::optional<double> underflow_fraction_;
  std::optional<double> scale_first_;
  std::optional<double> scale_min_;
  std::optional<double> scale_max_;
  std::optional<double> scale_now_;
};

// Pace: how long a rank's steps take, of about the last 4,096. Trivially
// copyable.
class Pace {
 public:
  void Add(Duration step);
  double p99_seconds() const;   // 0: unknown
  double mean_seconds() const;  // 0: unknown

 private:
  // Four buckets an octave of microseconds, up to 2^40 (12 days).
  static constexpr int kBuckets = 160;
  static constexpr uint32_t kWindow = 4096;
  std::array<uint16_t, kBuckets> buckets_{};
  int p99_bucket() const;

  uint32_t count_ = 0;
  // Asked for every second, also where many pass between two records.
  mutable int32_t p99_bucket_ = -1;  // -1: not known since the last Add()
  int64_t sum_us_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_STEP_TALLY_H_
