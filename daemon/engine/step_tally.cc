#include "engine/step_tally.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/steps_between.h"

namespace nanwatch {
namespace {

constexpr uint64_t kNewest50 = (uint64_t{1} << 50) - 1;
constexpr uint64_t kFrozen = 16;  // losses in a row; ours

}  // namespace

void StepTally::Add(const StepRecord& record, bool overflow, Fate fate) {
  if (++updates_ == 1) first_step_ = record.step;
  last_step_ = std::max(last_step_, record.step);
  overflows_ += overflow;
  applied_ += fate == Fate::kApplied;
  applied_overflows_ += overflow && fate == Fate::kApplied;
  lost_ += fate == Fate::kLost;
  overflow_bits_ = overflow_bits_ << 1 | (overflow ? 1 : 0);
  applied_bits_ = applied_bits_ << 1 | (fate == Fate::kApplied ? 1 : 0);
  lost_bits_ = lost_bits_ << 1 | (fate == Fate::kLost ? 1 : 0);
  if (record.present != 0) AddValues(record, overflow, fate);
}

// REQUIRES: it has a finite loss, and none before was not finite and kept.
inline void StepTally::NoteNanNorm(const StepRecord& record, Fate fate) {
  const bool bad = fate != Fate::kLost && record.has(StepField::kGradNorm) &&
                   std::isnan(record[StepField::kGradNorm]);
  if (!bad) {
    nan_norm_since_ = -1;
  } else if (nan_norm_since_ < 0) {
    nan_norm_since_ = record.step;
  }
}

inline void StepTally::AddValues(const StepRecord& record, bool overflow,
                                 Fate fate) {
  if (record.has(StepField::kLoss)) {
    rising_.Add(record.step, record[StepField::kLoss]);
    if (std::exchange(newest_loss_, record[StepField::kLoss]) != newest_loss_) {
      same_ = 0;
      same_since_ = record.step;
    }
    ++same_;
    if (std::isfinite(record[StepField::kLoss])) {
      ++loss_finite_;
      loss_finite_while_overflow_ += overflow;
      if (first_kept_nonfinite_loss_step_ < 0) NoteNanNorm(record, fate);
    } else {
      if (++loss_nonfinite_ == 1) first_nonfinite_loss_step_ = record.step;
      last_nonfinite_loss_step_ = record.step;
      if (fate != Fate::kLost && first_kept_nonfinite_loss_step_ < 0) {
        first_kept_nonfinite_loss_step_ = record.step;
      }
    }
  }
  if (record.has(StepField::kGradNorm)) {
    if (std::isfinite(record[StepField::kGradNorm])) {
      ++norm_finite_;
      norm_finite_while_overflow_ += overflow;
    } else {
      ++norm_nonfinite_;
      norm_nan_ += std::isnan(record[StepField::kGradNorm]);
    }
  }
  if (record.has(StepField::kZeroFraction)) {
    zero_fraction_ = record[StepField::kZeroFraction];
  }
  if (record.has(StepField::kUnderflowFraction)) {
    underflow_fraction_ = record[StepField::kUnderflowFraction];
  }
  if (record.has(StepField::kLossScale)) {
    const double scale = record[StepField::kLossScale];
    if (scale == scale_now_) return;
    scale_now_ = scale;
    if (!std::isfinite(scale)) return;
    if (!scale_first_) scale_first_ = scale_min_ = scale_max_ = scale;
    scale_min_ = std::min(*scale_min_, scale);
    scale_max_ = std::max(*scale_max_, scale);
  }
}

uint64_t StepTally::overflows_last_50() const {
  return static_cast<uint64_t>(std::popcount(overflow_bits_ & kNewest50));
}

void StepTally::WriteUpdates(RunEvidence* evidence) const {
  evidence->updates = updates_;
  if (updates_ > 0) evidence->first_step = first_step_;
  evidence->steps_between =
      HasStepsBetween(last_step_ - first_step_, static_cast<int64_t>(updates_));
  evidence->overflows = overflows_;
  evidence->applied = applied_;
  evidence->skipped = lost_;
  evidence->updates_last_50 = std::min<uint64_t>(updates_, 50);
  evidence->overflows_last_50 = overflows_last_50();
  evidence->applied_last_50 = std::popcount(applied_bits_ & kNewest50);
  evidence->skipped_last_50 = std::popcount(lost_bits_ & kNewest50);
  evidence->overflow_streak =
      static_cast<uint64_t>(std::countr_one(overflow_bits_ & kNewest50));
  evidence->applied_overflows = applied_overflows_;
  evidence->applied_overflows_last_50 =
      std::popcount(overflow_bits_ & applied_bits_ & kNewest50);
}

void StepTally::AddLoss(int32_t rank, RunEvidence* evidence) const {
  RunEvidence& e = *evidence;
  e.loss_finite += loss_finite_;
  e.loss_nonfinite += loss_nonfinite_;
  e.loss_finite_while_overflow += loss_finite_while_overflow_;
  if (same_ >= kFrozen && std::isfinite(newest_loss_)) {
    e.frozen = FrozenLoss{newest_loss_, same_since_};
  }
  if (loss_nonfinite_ == 0) return;
  if (e.nonfinite_loss_rank < 0 ||
      first_nonfinite_loss_step_ < e.first_nonfinite_loss_step) {
    e.first_nonfinite_loss_step = first_nonfinite_loss_step_;
    e.nonfinite_loss_rank = rank;
    e.rise = rising_.rise();
    e.nan_norm_before_loss =
        first_kept_nonfinite_loss_step_ < 0 ? -1 : nan_norm_since_;
  }
  if (first_kept_nonfinite_loss_step_ >= 0 &&
      (e.first_kept_nonfinite_loss_step < 0 ||
       first_kept_nonfinite_loss_step_ < e.first_kept_nonfinite_loss_step)) {
    e.first_kept_nonfinite_loss_step = first_kept_nonfinite_loss_step_;
  }
  e.last_nonfinite_loss_step =
      std::max(e.last_nonfinite_loss_step, last_nonfinite_loss_step_);
}

void StepTally::AddGradients(RunEvidence* evidence) const {
  evidence->grad_norm_finite += norm_finite_;
  evidence->grad_norm_nonfinite += norm_nonfinite_;
  evidence->grad_norm_nan += norm_nan_;
  evidence->grad_norm_finite_while_overflow += norm_finite_while_overflow_;
}

void StepTally::WriteScale(RunEvidence* evidence) const {
  evidence->scale_first = scale_first_;
  evidence->scale_min = scale_min_;
  evidence->scale_max = scale_max_;
  evidence->scale_now = scale_now_;
}

void StepTally::WriteFractions(RunEvidence* evidence) const {
  if (!evidence->zero_fraction) evidence->zero_fraction = zero_fraction_;
  if (!evidence->underflow_fraction) {
    evidence->underflow_fraction = underflow_fraction_;
  }
}

void Pace::Add(Duration step) {
  const uint64_t us = static_cast<uint64_t>(std::max<int64_t>(step.count(), 1));
  p99_bucket_ = -1;
  const int octave = std::bit_width(us) - 1;
  const int quarter =
      octave >= 2 ? static_cast<int>(us >> (octave - 2) & 3) : 0;
  ++buckets_[std::min(octave * 4 + quarter, kBuckets - 1)];
  sum_us_ += static_cast<int64_t>(us);
  if (++count_ < kWindow) return;
  // The old half fades.
  count_ = 0;
  for (uint16_t& bucket : buckets_) {
    bucket /= 2;
    count_ += bucket;
  }
  sum_us_ /= 2;
}

int Pace::p99_bucket() const {
  const uint32_t rank = count_ - count_ / 100;
  uint32_t seen = 0;
  for (int b = 0; b < kBuckets; ++b) {
    seen += buckets_[b];
    if (seen >= rank) return b;
  }
  return kBuckets - 1;
}

double Pace::p99_seconds() const {
  if (count_ == 0) return 0;
  if (p99_bucket_ < 0) p99_bucket_ = p99_bucket();
  // The bucket's upper end.
  return std::ldexp(1.0 + (p99_bucket_ % 4 + 1) / 4.0, p99_bucket_ / 4) * 1e-6;
}

double Pace::mean_seconds() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_us_) / count_ * 1e-6;
}

}  // namespace nanwatch
