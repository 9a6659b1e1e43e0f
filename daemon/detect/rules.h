// The list of rules. Adding one: its own file, one line here, one scenario in
// tests/golden.

#ifndef NANWATCH_DETECT_RULES_H_
#define NANWATCH_DETECT_RULES_H_

#include <vector>

#include "detect/bench_loss_divergence.h"
#include "detect/clipped_before_unscaling.h"
#include "detect/comm_nonfinite_origin.h"
#include "detect/data_from_start.h"
#include "detect/evaluation_nonfinite.h"
#include "detect/fp8_clip.h"
#include "detect/fp8_underflow.h"
#include "detect/gnorm_explosion.h"
#include "detect/gnorm_spike.h"
#include "detect/grad_ratio.h"
#include "detect/grad_vanishing.h"
#include "detect/layer_not_unscaled.h"
#include "detect/layer_scale_outside.h"
#include "detect/layer_underflow.h"
#include "detect/layer_without_gradient.h"
#include "detect/loss_high_plateau.h"
#include "detect/loss_impossible.h"
#include "detect/loss_nonfinite.h"
#include "detect/loss_not_decreasing.h"
#include "detect/loss_spike.h"
#include "detect/lr_skip_desync.h"
#include "detect/metric_absent_as_zero.h"
#include "detect/near_overflow.h"
#include "detect/never_calibrated.h"
#include "detect/no_single_scale.h"
#include "detect/number_nonfinite.h"
#include "detect/numeric_mutation.h"
#include "detect/one_scale_suffices.h"
#include "detect/op_internal_overflow.h"
#include "detect/op_overflow_origin.h"
#include "detect/op_overflow_propagated.h"
#include "detect/op_saturation.h"
#include "detect/optimizer_state_nonfinite.h"
#include "detect/overflow_not_scale_dependent.h"
#include "detect/overflow_rate.h"
#include "detect/overflow_streak.h"
#include "detect/persistent_op_overflow.h"
#include "detect/program_ended.h"
#include "detect/rank_apart.h"
#include "detect/replica_divergence.h"
#include "detect/rival_gone.h"
#include "detect/rule_list.h"
#include "detect/scale_at_floor.h"
#include "detect/scale_below_one.h"
#include "detect/scale_collapse.h"
#include "detect/scale_discontinuity.h"
#include "detect/scale_inv_jump.h"
#include "detect/scale_limit_cycle.h"
#include "detect/scale_rank_mismatch.h"
#include "detect/scale_runaway.h"
#include "detect/scale_stuck.h"
#include "detect/scale_unrepresentable.h"
#include "detect/score_lost.h"
#include "detect/sdc_strikes.h"
#include "detect/skip_rank_mismatch.h"
#include "detect/stalled.h"
#include "detect/step_rank_skew.h"
#include "detect/telemetry_gap.h"
#include "detect/term_nonfinite.h"
#include "detect/underflow_measured.h"
#include "detect/underflow_predicted.h"
#include "detect/unscaled_twice.h"
#include "detect/update_fault.h"
#include "detect/update_lost.h"
#include "detect/update_norm_spike.h"
#include "detect/update_ratio.h"
#include "detect/weight_nonfinite.h"
#include "detect/weight_out_of_range.h"
#include "detect/weight_unchanged.h"
#include "model/rule_thresholds.h"

namespace nanwatch {

// A (rank, optimizer).
using StepRules =
    RuleList<ScaleAtFloor, ScaleBelowOne, ScaleUnrepresentable, ScaleCollapse,
             OverflowStreak, OverflowRate, NeverCalibrated, ScaleLimitCycle,
             ScaleDiscontinuity, LossNonfinite, GnormSpike, GnormExplosion,
             LossSpike, ScaleStuck, ScaleRunaway, LossHighPlateau,
             LossNotDecreasing, UpdateRatio, WeightUnchanged, UpdateNormSpike,
             MetricAbsentAsZero, LrSkipDesync, GradRatio, GradVanishing,
             UnderflowMeasured, UnderflowPredicted, NoSingleScale,
             ClippedBeforeUnscaling, UnscaledTwice, UpdateFaultRule, UpdateLost,
             LossImpossible, RivalGone, NumberNonfinite>;
// A (rank, op, slot), made on demand.
using OpRules =
    RuleList<OverflowNotScaleDependent, WeightNonfinite,
             OptimizerStateNonfinite, OpOverflowOrigin, OpOverflowPropagated,
             PersistentOpOverflow, OpSaturation, OpInternalOverflow,
             NearOverflow, NumericMutation, Fp8Clip, Fp8Underflow, ScaleInvJump,
             WeightOutOfRange>;
// An agreement group.
using AlignedRules =
    RuleList<ScaleRankMismatch, SkipRankMismatch, CommNonfiniteOrigin,
             ReplicaDivergence, SdcStrikes, RankApart>;
// A rank whose layers have loss scales of their own, made on demand.
using LayerRules = RuleList<LayerUnderflow, LayerScaleOutside, OneScaleSuffices,
                            LayerNotUnscaled>;
// A layer with a scale of its own that overflowed, made on demand: those of
// StepRules that judge how a scale moves.
using LayerMoveRules = RuleList<ScaleAtFloor, ScaleCollapse, OverflowRate,
                                ScaleLimitCycle, ScaleDiscontinuity>;
// A run with a benchmark, made on demand.
using BenchRules = RuleList<BenchLossDivergence>;
// A run.
using TimeRules = RuleList<Stalled, TelemetryGap, StepRankSkew, ProgramEnded,
                           EvaluationNonfinite, LayerWithoutGradient,
                           TermNonfinite, ScoreLost, DataFromStart>;

static_assert(sizeof(StepRules) <= 4224, "a part of every rank's state");

// A RulesInForce made ready for the lists. Thresholds that the set lacks
// are the defaults (an older daemon wrote it); rules that do not exist are
// ignored.
class RuleTables {
 public:
  explicit RuleTables(const RulesInForce& set);
  RuleTables(const RuleTables&) = delete;
  RuleTables& operator=(const RuleTables&) = delete;

  const StepRules::Table& step() const { return step_; }
  const OpRules::Table& op() const { return op_; }
  const AlignedRules::Table& aligned() const { return aligned_; }
  const TimeRules::Table& time() const { return time_; }
  const LayerRules::Table& layers() const { return layers_; }
  const LayerMoveRules::Table& layer_moves() const { return layer_moves_; }
  const BenchRules::Table& bench() const { return bench_; }
  const RuleThresholds& in_force() const { return in_force_; }

 private:
  template <typename List>
  void Fill(const RulesInForce& set, typename List::Table* table);

  // The thresholds of every rule, one after another, and their natural
  // logarithms; the tables point into them.
  std::vector<double> values_;
  std::vector<float> logs_;
  StepRules::Table step_;
  OpRules::Table op_;
  AlignedRules::Table aligned_;
  TimeRules::Table time_;
  LayerRules::Table layers_;
  LayerMoveRules::Table layer_moves_;  // as of step_
  BenchRules::Table bench_;
  RuleThresholds in_force_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RULES_H_
