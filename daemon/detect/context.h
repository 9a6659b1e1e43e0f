// What a detector is given. A rule has exactly one of OnStep, OnOp, OnAligned,
// OnTime, OnLayers (layer_context.h), OnBench (bench_context.h) and sees
// nothing but its context, its thresholds and its own members.

#ifndef NANWATCH_DETECT_CONTEXT_H_
#define NANWATCH_DETECT_CONTEXT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "detect/at_rest.h"
#include "detect/float_log2.h"
#include "detect/rate_course.h"
#include "detect/series.h"
#include "model/first_batches.h"
#include "model/op.h"
#include "model/rank.h"
#include "model/records_ended.h"
#include "model/run.h"
#include "model/severity.h"
#include "model/step.h"
#include "model/told_overflow.h"
#include "scaler/headroom.h"
#include "scaler/tracker.h"

namespace nanwatch {

// Resolved thresholds of one rule, in the order of its RuleSpec.
struct Thresholds {
  const double* values = nullptr;
  const float* logs = nullptr;  // natural, of `values`
  double operator[](int index) const { return values[index]; }
  float Ln(int index) const { return logs[index]; }
};

// What the op statuses of one rank and step say together. Op statuses of a step
// travel before the step's record and are judged with it.
struct StepOps {
  uint32_t bad_ops = 0;  // ops with a bad element or a device flag
  int32_t origin = -1;   // op index of the first bad output whose inputs
                         // are not known to be bad; -1: none
  bool forward_nonfinite = false;  // NaN or Inf in a forward input or output
  bool collected = false;          // any op status of this step, bad or clean
  // The first bad status, in execution order, is the result of a collective
  // whose inputs on this rank are known to be clean.
  bool collective_first = false;
  bool collective_nan = false;  // and that holds a NaN
};

// What the gradients of one step and rank say together, the loss scale
// included.
struct StepGradients {
  GradientRange range;  // tensors in fp16
  // Root mean square of the gradient that arrives at the first and at the last
  // op of the execution order that has one; orders -1: none.
  int32_t first_order = -1;
  int32_t last_order = -1;
  float first_rms = 0;
  float last_rms = 0;
  // The first tensor, in the order they came, that is exactly 0 and was not;
  // -1: none. How many more became so at this step.
  int32_t zeroed = -1;
  uint32_t zeroed_more = 0;

  // Takes in a gradient that arrives at an op. REQUIRES: order >= 0, rms > 0.
  void AddArrival(int32_t order, float rms) {
    if (first_order < 0 || order < first_order) {
      first_order = order;
      first_rms = rms;
    }
    if (order > last_order) {
      last_order = order;
      last_rms = rms;
    }
  }
};

// The layer-wise loss scales of one record.
struct StepLayers {
  LayerExtremes of;
  std::string_view lowest_name;  // of the op whose layer has the lowest
};

// log2 of the record's gradient norm, of 2^-120 at least. Without one, or where
// it is not a positive number, it means nothing.
inline float Log2OfNorm(const StepRecord& record) {
  if (!record.has(StepField::kGradNorm)) return 0;
  const auto norm = static_cast<float>(record[StepField::kGradNorm]);
  return Log2(norm > 0x1p-120f ? norm : 0x1p-120f);
}

// Without one, or where it is not finite: none.
inline std::optional<double> FiniteLoss(const StepRecord& record) {
  if (!record.has(StepField::kLoss)) return std::nullopt;
  const double loss = record[StepField::kLoss];
  if (!std::isfinite(loss)) return std::nullopt;
  return loss;
}

// What the levels of a rank's losses are worth. Optimizers that follow losses
// of their own, against each other, keep none in health; nor does a loss that
// follows rewards, or a sum of all losses so far.
enum class LevelKind : uint8_t { kKept, kOfRivals, kOfRewards, kOfSum };

// A series without a value.
inline constexpr Series kNoSeries;
inline constexpr AtRest kNeverAtRest;
inline constexpr RateCourse kNoRate;

// OnStep: one record of one rank and optimizer.
struct StepContext {
  const RunDescription& run;
  const StepRecord& record;
  const ScalerTracker& scaler;  // has seen `record`
  const StepOps& ops;
  // Null: no op status of a gradient at this step. The names are of the ops
  // with the largest lower bound, with the largest value, and of `zeroed`.
  const StepGradients* gradients = nullptr;
  std::string_view lowest_name{};
  std::string_view largest_name{};
  std::string_view zeroed_name{};
  const StepLayers* layers = nullptr;  // null: none in the record
  // As of the record before: a loss that left its level is on its way back, or
  // there; gnorm_spike or gnorm_explosion warns.
  bool loss_returns = false;
  bool norm_warns = false;
  LevelKind level = LevelKind::kKept;
  bool has_critic = false;  // of rivals, one is ever below 0
  // What the loss had come to before this attempt of the run; null: not known.
  const LossReached* loss_before = nullptr;
  // Of this rank and optimizer; they have seen `record`. Never null.
  const Series* loss = &kNoSeries;
  const Series* grad_norm = &kNoSeries;
  const AtRest* at_rest = &kNeverAtRest;
  const RateCourse* rate = &kNoRate;
  int64_t first_step = 0;   // of the optimizer's records
  double last_loss = 0;     // of the newest record before with one; 0: none
  bool norm_taken = false;  // that of `record`, into grad_norm
  float norm_log2 = Log2OfNorm(record);
};

// Does anything tell what becomes of updates? A log without flags does not: its
// scaler may have skipped this one.
inline bool FateIsTold(const StepContext& c) {
  return c.scaler.fate() != Fate::kUnknown || c.record.flags_present != 0 ||
         c.run.scaler.kind != ScalingKind::kUnknown;
}

// The update was left out, and what is told does not say why: it counts as an
// overflow, which is why scalers leave them out.
inline bool IsLeftOut(const StepContext& c) {
  return c.record.is(StepFlag::kSkipped) && !SaysOverflow(c.record) &&
         !c.scaler.scale();
}

// A fixed scale of 1 scales nothing: programs print it where there is none.
inline bool ScalesGradients(const StepContext& c) {
  return c.scaler.scale() && (c.scaler.dynamic() || c.scaler.scale() != 1.0);
}

// Steps lie between this record and the one before. Where the scale alone tells
// overflows, it tells of theirs, too, and not how many there were.
inline bool IsApart(const StepContext& c) {
  return c.scaler.updates() > 1 && c.scaler.step_gap() > 1;
}
inline bool TellsOfItsOwn(const StepContext& c) {
  return c.record.flags_present != 0 || c.record.float_status != nullptr;
}

// Overflows that would be `severity` if each had cost its update, and that are
// applied all the same: who declares the check off wants that. Of others it is
// not known what went into the weights.
inline Severity OfApplied(const RunDescription& run, Severity severity) {
  const bool wanted = run.scaler.overflow_check == false;
  return severity == Severity::kCritical && !wanted ? Severity::kWarning
                                                    : Severity::kInfo;
}

// What a record brings, a bit each. A rule whose OnStep changes nothing, and
// repeats its opinion, without certain numbers names them in kNeeds: it may be
// called only with a record that brings one of them, or while it has an
// opinion or Waits(). With kUnsteadyBit it sees no steady record
// (ScalerTracker::steady) until then; one that counts updates makes up for them
// by SteadySince.
constexpr uint32_t Bit(StepField field) {
  return 1u << static_cast<int>(field);
}
// A norm or a learning rate that is not finite.
inline constexpr uint32_t kOddNumberBit = 1u << 23;
// A loss that is not finite, or not from 0.1 to 4.
inline constexpr uint32_t kOddLossBit = 1u << 24;
inline constexpr double kLeastUsualLoss = 0.1;  // ours
inline constexpr double kMostUsualLoss = 4;     // ours
inline constexpr uint32_t kNegativeLossBit = 1u << 25;
inline constexpr uint32_t kRivalsBit = 1u << 26;
inline constexpr uint32_t kUpdateFactsBit = 1u << 27;
inline constexpr uint32_t kUnsteadyBit = 1u << 28;
inline constexpr uint32_t kReplicaDigestBit = 1u << 29;
inline constexpr uint32_t kGradientsBit = 1u << 30;
inline constexpr uint32_t kLayersBit = 1u << 31;
static_assert(kStepFields <= 23);
inline uint32_t BringsOfLoss(const StepRecord& record) {
  if (!record.has(StepField::kLoss)) return 0;
  const double loss = record[StepField::kLoss];
  if (loss >= kLeastUsualLoss && loss < kMostUsualLoss) return 0;
  return kOddLossBit | (loss < 0 ? kNegativeLossBit : 0);
}
inline constexpr StepField kWatchedForOdd[] = {
    StepField::kParamNorm, StepField::kUpdateNorm, StepField::kAppliedGradNorm,
    StepField::kLearningRate};
inline uint32_t BringsOfOthers(const StepRecord& record) {
  double sum = 0;  // finite where all are: none is near what a double holds
  for (const StepField field : kWatchedForOdd) {
    if (record.has(field)) sum += record[field];
  }
  return std::isfinite(sum) ? 0 : kOddNumberBit;
}
inline uint32_t Brings(const StepContext& c) {
  return c.record.present | BringsOfLoss(c.record) | BringsOfOthers(c.record) |
         (c.level == LevelKind::kOfRivals ? kRivalsBit : 0) |
         (c.scaler.steady() ? 0 : kUnsteadyBit) |
         (c.record.replica_digest ? kReplicaDigestBit : 0) |
         (c.gradients != nullptr ? kGradientsBit : 0) |
         (c.layers != nullptr ? kLayersBit : 0) |
         (c.record.update != nullptr || c.rate->idle() > 0 ? kUpdateFactsBit
                                                           : 0);
}

// Records since the one of `*update`, which becomes the present one: steady
// ones, which the rule was not called with. 0 where that is its first.
inline int64_t SteadySince(const StepContext& c, int64_t* update) {
  const int64_t before = std::exchange(*update, c.scaler.updates());
  return before == 0 ? 0 : c.scaler.updates() - before - 1;
}

// OnOp: one interesting status (bad, near the limit, or of an op that a rule
// has state on), together with the step record that it belongs to.
enum class InputState : uint8_t { kNotCollected, kClean, kBad };
// What the statuses before this one left behind, for rules that judge a change.
struct OpTrend {
  // Largest magnitude of the op's input at this step; -1: not collected.
  float input_abs_max = -1;
  // FP8: scale_inv of the status before; 0: none. Usual share of zeros of this
  // tensor, of 16 statuses at least; -1: not known.
  float scale_inv_before = 0;
  float usual_zeros = -1;
  // The largest magnitude of all other weights of this step; -1: not known.
  float other_weights = -1;
  // That of this tensor's weights when it was last below kWildWeight; -1: it
  // never was.
  float weight_before = -1;
  // Outputs so far whose largest magnitude was at most kMutation times that of
  // the input; up to 31.
  uint8_t calm = 0;
};
inline bool IsFp8(Dtype dtype) {
  return dtype == Dtype::kFp8E4M3 || dtype == Dtype::kFp8E5M2;
}
// Outputs that are so much larger than the input are looked at.
inline constexpr float kMutation = 100;  // a ratio; msprobe
// So are weights of this size: the square is no number of fp32.
inline constexpr float kWildWeight = 0x1p64f;  // a magnitude; ours
struct OpContext {
  const RunDescription& run;
  const OpName& op;
  const OpStatus& status;
  InputState inputs;         // of the same op, pass and step
  const StepRecord* record;  // null: op statuses without step records
  const ScalerTracker& scaler;
  int64_t update;  // updates of the rank so far
  OpTrend trend{};
  std::span<const std::string> masked_ops{};  // see EngineOptions
};

// The lowest and the highest of a number over the ranks that reported one.
template <typename T>
struct RangeOfRanks {
  int32_t count = 0;
  T min = 0;
  T max = 0;
  int32_t min_rank = -1;  // the lowest of at_min ranks with exactly that value
  int32_t max_rank = -1;
  int32_t at_min = 0;
  int32_t at_max = 0;

  void Add(int32_t rank, T value) {
    const bool first = count++ == 0;
    if (first || value < min) {
      min = value;
      min_rank = rank;
      at_min = 0;
    }
    if (first || value > max) {
      max = value;
      max_rank = rank;
      at_max = 0;
    }
    // Ties go to the lowest rank, so that the order of arrival does not show.
    if (value == min) {
      ++at_min;
      min_rank = std::min(min_rank, rank);
    }
    if (value == max) {
      ++at_max;
      max_rank = std::min(max_rank, rank);
    }
  }
};

// The same of one that is finite, and its sum.
struct OfRanks : RangeOfRanks<double> {
  double sum = 0;

  void Add(int32_t rank, double value) {
    sum += value;
    RangeOfRanks::Add(rank, value);
  }
};

// OnAligned: one step (n-th try) of all ranks of an agreement group.
struct AlignedStep {
  int64_t step = 0;
  int32_t try_of_step = 0;  // 0: first try of this step number
  AgreementGroup group;
  int32_t expected = 0;        // open ranks of the group
  int32_t seen = 0;            // of those, with a record here
  RangeOfRanks<double> scale;  // loss scales
  // Skip decision over ranks that reported one.
  int32_t skipped = 0;
  int32_t applied = 0;
  int32_t first_skipped_rank = -1;
  int32_t first_applied_rank = -1;
  OfRanks norm;            // gradient norms > 0
  double norm_second = 0;  // the largest norm but one
  OfRanks loss;
  RangeOfRanks<double> rate;  // learning rates
  // Ranks with a gradient norm or a loss, and those where one of them is not
  // finite; the lowest of these.
  int32_t judged_finite = 0;
  int32_t nonfinite = 0;
  int32_t nonfinite_rank = -1;
  RangeOfRanks<uint64_t> digest;  // of the replica
  // Ranks with op statuses at this step; of those, where the first bad one is a
  // collective's result of clean inputs, and where it is something else.
  int32_t ops_collected = 0;
  int32_t collective_first = 0;
  int32_t collective_nan = 0;
  int32_t bad_first = 0;
  int32_t collective_rank = -1;
};
struct AlignedContext {
  const RunDescription& run;
  const AlignedStep& step;
  Time time{};  // of the newest record of the step
  // The op whose tensor is all that the lowest and the highest digest differ
  // in; empty: they are equal, or it is not known.
  std::string_view differing_op{};
  ReplicaKind replica = ReplicaKind::kDeclared;
};

// OnTime: the state of a run at `now`, judged once a second of engine time.
struct RankPulse {
  int32_t rank = 0;
  bool connected = false;  // false: lost
  Time last_record{};      // epoch: none yet
  int64_t last_step = 0;
  uint64_t dropped_steps = 0;  // ever
  uint64_t dropped_ops = 0;
};
struct TimeContext {
  const RunDescription& run;
  Time now;
  Time opened;
  std::span<const RankPulse> ranks;   // open and lost ones, by rank
  int64_t last_step;                  // of the run
  double step_seconds_p99;            // 0: unknown
  double step_seconds_mean;           // 0: unknown
  int32_t ranks_opened = 0;           // ever, closed ones too; 0: not counted
  const RankEnd* rank_end = nullptr;  // null: all that ended did in order
  const DataAgain* data_again = nullptr;  // null: the data go on
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_CONTEXT_H_
