#include "diagnose/first_look.h"

namespace nanwatch {
namespace {

struct Look {
  RuleId rule;
  std::string_view sentences;
};

constexpr Look kLooks[] = {
    {RuleId::kScaleAtFloor,
     "See whether updates are still applied at the floor. Rare overflows there "
     "are survived; overflow after overflow is not, and then ask which op "
     "overflows (`nanwatch diagnose`) before touching the scaler."},
    {RuleId::kScaleBelowOne,
     "A scale below 1 is worse than none. Stop, go back to a checkpoint from "
     "before the fall, and find out what overflowed on the way down."},
    {RuleId::kScaleUnrepresentable,
     "The scaler's state is destroyed: every update from here on is zero or "
     "NaN. Restart from a checkpoint with a fresh scaler."},
    {RuleId::kScaleCollapse,
     "Compare the step at which the scale began to fall with the loss and the "
     "gradient norm: a spike before it is divergence, a NaN in the forward "
     "pass is data or an op, and neither is mended by a scale."},
    {RuleId::kOverflowStreak,
     "See whether the scale falls meanwhile. If it does, wait for the scaler; "
     "if it stands, or the overflow does not end on the way down, look at the "
     "op that overflows."},
    {RuleId::kOverflowRate,
     "An overflow a growth interval is healthy. More of them mean a scaler "
     "that grows too soon or gradients with a heavy tail: try a longer "
     "interval with `nanwatch simulate`, clip, or lower the learning rate."},
    {RuleId::kNeverCalibrated,
     "The scaler had time to find its scale and did not: what overflows does "
     "not depend on it. Look at the named op and at the first loss."},
    {RuleId::kOverflowNotScaleDependent,
     "Waiting for the scaler is in vain. Look at the op itself: its padding, a "
     "mask of -infinity, a log or a division, a sum in fp16."},
    {RuleId::kScaleLimitCycle,
     "Look at who calls the scaler: two optimizers that each update it, ranks "
     "that reset it, or a window so short that it grows at once after a fall."},
    {RuleId::kScaleStuck,
     "See whether update() is called once a step, and whether the growth "
     "interval was meant in updates or in micro-batches. Harmless where the "
     "gradients fit."},
    {RuleId::kScaleRunaway,
     "A scale that no overflow ever stops protects nothing: the gradients are "
     "zero, or in another format than fp16. Take the scaler off with bf16; set "
     "a ceiling otherwise."},
    {RuleId::kScaleRankMismatch,
     "Each rank has a scaler of its own, or one was restored from another "
     "checkpoint. Compare versions and configuration of the ranks named."},
    {RuleId::kSkipRankMismatch,
     "From this step on the replicas hold different weights, whatever they "
     "report: restart from a checkpoint before it, after mending the reduction "
     "of the overflow flag."},
    {RuleId::kScaleDiscontinuity,
     "Look at the step for a restart without the scaler's state, a second "
     "wrapper around the optimizer, or an assignment to the scale."},
    {RuleId::kLossNonfinite,
     "With the update skipped, one is survivable: look at that step's batch. "
     "With it applied, the weights are lost: go back to a checkpoint."},
    {RuleId::kWeightNonfinite,
     "Nothing repairs it. Find the last checkpoint in which all weights are "
     "finite, and see why the update of the next step was not skipped."},
    {RuleId::kOptimizerStateNonfinite,
     "Nothing repairs it. Go back to a checkpoint; see whether gradients are "
     "checked before the optimizer, not after."},
    {RuleId::kOpOverflowOrigin,
     "This is where to look first: the op's inputs, dtype and shape at the "
     "named step."},
    {RuleId::kOpOverflowPropagated,
     "Nothing here: look at the op where it began."},
    {RuleId::kPersistentOpOverflow,
     "See whether the overflow ends at some scale. If not, give the op fp32, a "
     "clamp or a mask."},
    {RuleId::kOpSaturation,
     "In saturation mode this is what an infinity looks like: treat the value "
     "as one, whatever the loss says."},
    {RuleId::kOpInternalOverflow,
     "The overflow happened inside: a partial sum, or padding that is not part "
     "of the output. See whether the output is used, and whether the op can "
     "accumulate in fp32."},
    {RuleId::kCommNonfiniteOrigin,
     "Reduce in fp32 or divide before the sum; where the values are small "
     "anyhow, test the link and the devices of the group."},
    {RuleId::kNearOverflow,
     "Activations or weights grow towards the end of the format: look whether "
     "they still do, and give the op bf16 or fp32 in time."},
    {RuleId::kNumericMutation,
     "See whether the input became small or the output large. Normalisation of "
     "tiny values, a division and an exp are the usual ones."},
    {RuleId::kGnormSpike,
     "One spike is usually a batch: clipping deals with it. See whether the "
     "loss follows within some steps."},
    {RuleId::kGnormExplosion,
     "See whether the gradient was clipped or the update skipped. If it was "
     "applied, watch the loss; if it is not over, go back and skip the data."},
    {RuleId::kGradRatio,
     "Look at initialisation, normalisation and residual paths between the two "
     "layers named, and at the learning rate's last change."},
    {RuleId::kGradVanishing, kLookAtGradients},
    {RuleId::kUnderflowMeasured,
     "Compare with the loss scale: when the share rises as the scale falls, "
     "raise the scale or use bf16."},
    {RuleId::kUnderflowPredicted,
     "The named scale would lose fewer elements and still not overflow: set "
     "it, or let the scaler grow; `nanwatch simulate` shows what it costs."},
    {RuleId::kNoSingleScale,
     "No setting of the scaler helps. Keep the two named layers in another "
     "format, or use bf16."},
    {RuleId::kLayerUnderflow,
     "Raise the scale of the layer named; `nanwatch layers RUN --scales` shows "
     "how far it may go. Zeros of a ReLU's mask are not counted."},
    {RuleId::kLayerScaleOutside,
     "See whether the scaler has a bound (AdaLoss: accum_upper_bound 1024) "
     "that keeps it there, and raise that; else set the scale by "
     "`nanwatch layers RUN --scales --yaml`."},
    {RuleId::kOneScaleSuffices,
     "Nothing is wrong: one loss scale for all is simpler and as good. Before "
     "you change, see whether the range holds in later stages of training."},
    {RuleId::kLayerNotUnscaled,
     "Look where the layer's gradients are divided by its scale: the weight's "
     "and the bias' are to be, each once, before clipping and the update."},
    {RuleId::kLossSpike,
     "A spike that comes back within some tens of steps needs nothing. If it "
     "stays, go back to a checkpoint before it and skip the data of that step, "
     "as the authors of large models do. Where tasks take turns, tell each by "
     "a name of its own (the Python client's step(loss, optimizer=\"task\")): "
     "it is judged by its own level then."},
    {RuleId::kLossHighPlateau,
     "What was learned is lost and does not come back by itself: go back to a "
     "checkpoint with a lower learning rate."},
    {RuleId::kLossNotDecreasing,
     "Look whether updates are applied at all: learning rate 0, frozen "
     "parameters, every step skipped, labels that do not belong to the "
     "inputs."},
    {RuleId::kLossImpossible,
     "See what the loss is made of, with the targets of one batch: a "
     "cross-entropy is below 0 where a target, a sign or what goes into the "
     "loss is wrong, or where something else is added to it."},
    {RuleId::kBenchLossDivergence,
     "Compare the two with `nanwatch compare`: it says which settings differ, "
     "and at which step and op they part where both recorded tensors. Look "
     "first at what changed at the named step: the learning rate, the data."},
    {RuleId::kEvaluationNonfinite, kLookAtEvaluation},
    {RuleId::kTermNonfinite, kLookAtTerm},
    {RuleId::kLayerWithoutGradient, kLookAtLayer},
    {RuleId::kScoreLost,
     "Go back to the checkpoint of the best score. Of a policy, look at its "
     "entropy and its distance from the old one before the fall. Of an "
     "evaluation, see whether its weights are those of the training, and "
     "whether it has learned by heart. Of latents, let the weight of their KL "
     "term grow from 0."},
    {RuleId::kRivalGone, kLookAtRival},
    {RuleId::kUpdateRatio,
     "Too large: lower the learning rate or lengthen the warm-up. Too small: "
     "see whether the learning rate is what you meant."},
    {RuleId::kWeightUnchanged,
     "See whether the optimizer holds these parameters, whether they require "
     "gradients, and whether the fp32 copy is written back."},
    {RuleId::kUpdateNormSpike,
     "Look at Adam's second moment: gradients that were small for long and "
     "grow suddenly make such updates. A lower beta2 or clipping of updates "
     "helps."},
    {RuleId::kFp8Clip,
     "Look at the recipe's history and margin; outliers that come back want a "
     "current scale or a scale a block."},
    {RuleId::kFp8Underflow,
     "The scale is set by outliers and the rest is lost: a scale a block, or "
     "that layer in bf16."},
    {RuleId::kScaleInvJump,
     "One jump follows one outlier. Again and again it means a history that is "
     "too short or data that alternates."},
    {RuleId::kReplicaDivergence,
     "Find the first step at which they differ and the rank that is alone, and "
     "restart from a checkpoint before. BatchNorm's statistics are no replica; "
     "leave them out of the digest."},
    {RuleId::kRankApart, kLookAtRank},
    {RuleId::kDataFromStart, kLookAtData},
    {RuleId::kNumberNonfinite, kLookAtNumber},
    {RuleId::kSdcStrikes,
     "Swap the rank's data with another's: if the trouble moves, it is the "
     "data; if it stays, take the device out."},
    {RuleId::kStalled,
     "Look at the rank's process and node, and at its stack: a collective that "
     "waits for another rank, a data loader, a checkpoint being written."},
    {RuleId::kTelemetryGap,
     "See whether a rank died, and whether the client's ring is too small for "
     "the pauses of the daemon."},
    {RuleId::kMetricAbsentAsZero, kLookAtZeroNorm},
    {RuleId::kStepRankSkew,
     "Look for a rank that resumed from another checkpoint, or that counts "
     "skipped steps differently."},
    {RuleId::kLrSkipDesync,
     "Call the schedule only after updates that were applied, or accept that "
     "it is ahead by the number of steps named."},
    {RuleId::kClippedBeforeUnscaling,
     "Call what unscales the gradients before what clips them (PyTorch: "
     "scaler.unscale_(optimizer), then clip_grad_norm_). The limit itself may "
     "then have to be larger than it seemed."},
    {RuleId::kUnscaledTwice,
     "Look for a division by the loss scale beside the scaler's own, or for a "
     "second call of unscale: what steps the optimizer unscales by itself "
     "unless it knows that this was done."},
    {RuleId::kProgramEnded,
     "The traceback is in the program's own output. The numbers up to its last "
     "step are judged as usual: see whether they were in trouble before."},
    {RuleId::kUpdateFault,
     "Look at the training loop: zero_grad(), backward(), unscale, clip, "
     "step(), in this order, and at which parameters the optimizer was given "
     "and when."},
    {RuleId::kUpdateLost,
     "Keep a copy of the weights in fp32 for the optimizer (mixed precision "
     "instead of weights in bf16), or use an optimizer with compensated sums "
     "or stochastic rounding."},
    {RuleId::kWeightOutOfRange,
     "See whether it is one tensor or many, and how much it grew. Many at "
     "once, or one that a large input feeds, are a training that diverged: "
     "look at its loss and gradients. One alone and some 2^128 times what it "
     "was is a bit of memory: go back to a checkpoint and test that device."},
};

}  // namespace

std::string_view FirstLook(RuleId rule) {
  for (const Look& look : kLooks) {
    if (look.rule == rule) return look.sentences;
  }
  return "";
}

}  // namespace nanwatch
