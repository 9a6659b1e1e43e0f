#include "diagnose/actions.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace nanwatch {
namespace {

// Whether the run takes the cure already.
enum class When : uint8_t { kNotCured, kCured };

struct Advice {
  Cause cause;
  std::string_view framework;  // empty: any
  std::string_view sentence;
  When when = When::kNotCured;
};

constexpr Advice kAdvice[] = {
    {Cause::kHarmlessPadding, "",
     "Use a fixed loss scale with the overflow check off, so that no update is "
     "skipped for it."},
    {Cause::kHarmlessPadding, "",
     "To be sure, observe the op's logical region: pass its elements without "
     "the padding."},
    {Cause::kHarmlessPadding, "ascend_tf",
     "NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=1024, "
     "enable_overflow_check=False))."},
    {Cause::kHarmlessPadding, "mindspore",
     "Train with FixedLossScaleManager(loss_scale, "
     "drop_overflow_update=False)."},
    {Cause::kHarmlessPadding, "pytorch",
     "On an NPU set INF_NAN_MODE_ENABLE=1, so that values are checked and not "
     "the sticky float status; or scale the loss by a constant instead of "
     "GradScaler."},
    {Cause::kHarmlessPadding, "megatron",
     "Set --loss-scale to a constant, which uses ConstantGradScaler."},
    {Cause::kHarmlessPadding, "deepspeed",
     "Set fp16.loss_scale to a constant instead of 0 (dynamic)."},
    {Cause::kHarmlessPadding, "fairseq",
     "Mask the padding before the op: fairseq checks the gradient norm, so "
     "the Inf reaches it."},
    {Cause::kHarmlessPadding, "keras",
     "LossScaleOptimizer(opt, dynamic=False, initial_scale=1024)."},
    {Cause::kHarmlessPadding, "jax",
     "Use jmp.StaticLossScale, and mask the padding with jnp.where before the "
     "op."},

    {Cause::kHarmlessPadding, "",
     "Nothing: the update is applied all the same. To silence even this note, "
     "mask the padding before the op.",
     When::kCured},

    {Cause::kStartupCalibration, "",
     "Nothing, if it ends within the scaler's grace. A lower initial scale "
     "saves the skipped steps."},
    {Cause::kStartupCalibration, "pytorch",
     "GradScaler(init_scale=...) near the scale it settles at."},
    {Cause::kStartupCalibration, "megatron",
     "--initial-loss-scale near the scale it settles at."},
    {Cause::kStartupCalibration, "deepspeed",
     "fp16.initial_scale_power near the scale it settles at."},
    {Cause::kStartupCalibration, "fairseq",
     "--fp16-init-scale near the scale it settles at."},
    {Cause::kStartupCalibration, "ascend_tf",
     "ExponentialUpdateLossScaleManager(init_loss_scale=...) near the scale it "
     "settles at; 2**32 costs 30 and more steps."},

    {Cause::kRangeOverflow, "",
     "Nothing while it is rare (under 0.1 % of steps). When it grows: lower "
     "the learning rate, clip gradients, or use bf16."},

    {Cause::kNanFromForward, "",
     "Look at the batch of the first bad step and at the named op: log or "
     "sqrt of a value <= 0, division by 0, an fp16 exp or sum. Lowering the "
     "loss scale does not help."},
    {Cause::kNanFromForward, "pytorch",
     "Run that step under torch.autograd.set_detect_anomaly(True), and clamp "
     "or keep the op in fp32 with torch.autocast(enabled=False)."},
    {Cause::kNanFromForward, "megatron",
     "--check-for-nan-in-loss-and-grad stops at the first; resume before that "
     "step and skip its data."},
    {Cause::kNanFromForward, "deepspeed",
     "Resume from the checkpoint before that step and skip its data."},
    {Cause::kNanFromForward, "fairseq",
     "The NanDetector names the module; skip the batch or keep the module in "
     "fp32."},
    {Cause::kNanFromForward, "mindspore",
     "Keep the op in fp32 (amp.custom_mixed_precision black list), and check "
     "the dataset at that step."},
    {Cause::kNanFromForward, "ascend_tf",
     "Keep the op in fp32 (modify_mixlist black list); in saturation mode NaN "
     "becomes 0, so trust the float status and not the loss."},
    {Cause::kNanFromForward, "keras",
     "tf.debugging.enable_check_numerics() names the op."},
    {Cause::kNanFromForward, "jax",
     "jax.config.update('jax_debug_nans', True) names the op."},

    {Cause::kScaleIndependentOp, "",
     "Find out why the named op overflows: keep it in fp32, or clamp or mask "
     "its input. Do not wait for the scaler."},
    {Cause::kScaleIndependentOp, "pytorch",
     "Wrap the op in torch.autocast(enabled=False) and feed it .float()."},
    {Cause::kScaleIndependentOp, "ascend_tf",
     "Add the op to the black list of modify_mixlist, or use "
     "precision_mode=allow_fp32_to_fp16 with it in fp32."},
    {Cause::kScaleIndependentOp, "mindspore",
     "Put the cell on the black list of amp.auto_mixed_precision."},
    {Cause::kScaleIndependentOp, "keras", "Give the layer dtype='float32'."},
    {Cause::kScaleIndependentOp, "jax",
     "Cast the op's input to float32 in the jmp policy."},

    {Cause::kCollapseWithUnderflow, "",
     "Stop and resume from the checkpoint before the scale fell, with a lower "
     "learning rate, gradient clipping or bf16; first mend what overflows."},
    {Cause::kCollapseWithUnderflow, "pytorch",
     "GradScaler has no floor: stop when scaler.get_scale() < 1."},
    {Cause::kCollapseWithUnderflow, "megatron",
     "Raise --min-loss-scale, or use --bf16."},
    {Cause::kCollapseWithUnderflow, "deepspeed",
     "Raise fp16.min_loss_scale and fp16.hysteresis, or use bf16."},
    {Cause::kCollapseWithUnderflow, "fairseq",
     "Raise --threshold-loss-scale, or use --bf16."},
    {Cause::kCollapseWithUnderflow, "ascend_tf",
     "Set decr_ratio=0.5 and a shorter incr_every_n_steps, or a fixed scale."},

    {Cause::kUnderflow, "",
     "Scale the loss higher: a dynamic scaler that may grow finds the scale by "
     "itself. With bf16 none is needed."},
    {Cause::kUnderflow, "pytorch",
     "Let GradScaler grow: call update() at each step, and shorten "
     "growth_interval if it has far to go."},
    {Cause::kUnderflow, "megatron",
     "Take off --loss-scale, so that the scale is dynamic, or use --bf16."},
    {Cause::kUnderflow, "deepspeed",
     "Set fp16.loss_scale to 0 (dynamic), with fp16.initial_scale_power at the "
     "log2 of the scale named."},
    {Cause::kUnderflow, "fairseq",
     "Raise --fp16-init-scale, and shorten --fp16-scale-window."},
    {Cause::kUnderflow, "ascend_tf",
     "Raise incr_ratio or shorten incr_every_n_steps of "
     "ExponentialUpdateLossScaleManager."},
    {Cause::kUnderflow, "mindspore",
     "DynamicLossScaleManager(init_loss_scale=..., scale_window=...) instead "
     "of a fixed scale."},
    {Cause::kUnderflow, "keras",
     "LossScaleOptimizer(opt, initial_scale=...); leave dynamic on."},
    {Cause::kUnderflow, "jax",
     "jmp.DynamicLossScale instead of a constant, with a shorter period."},

    {Cause::kNoSingleScale, "",
     "Use bf16, which has the range of fp32; or one scale a layer, as AdaLoss "
     "does; or keep the two named layers in fp32."},
    {Cause::kNoSingleScale, "pytorch",
     "torch.autocast(dtype=torch.bfloat16) needs no GradScaler; or wrap the "
     "named layers in torch.autocast(enabled=False)."},
    {Cause::kNoSingleScale, "megatron", "--bf16 instead of --fp16."},
    {Cause::kNoSingleScale, "deepspeed",
     "bf16: {enabled: true} instead of fp16."},
    {Cause::kNoSingleScale, "fairseq", "--bf16 instead of --fp16."},
    {Cause::kNoSingleScale, "mindspore",
     "Train in bfloat16, or put the named cells on the black list of "
     "amp.auto_mixed_precision."},
    {Cause::kNoSingleScale, "ascend_tf",
     "Add the named ops to the black list of modify_mixlist."},
    {Cause::kNoSingleScale, "keras",
     "mixed_bfloat16 instead of mixed_float16, or dtype='float32' for the "
     "named layers."},
    {Cause::kNoSingleScale, "jax", "A jmp policy with compute_dtype bfloat16."},

    {Cause::kFp8Scaling, "",
     "Let the scale follow its tensor: a scale from the present values instead "
     "of delayed ones, a scale a block, or that layer in bf16."},
    {Cause::kFp8Scaling, "pytorch",
     "Transformer Engine: Float8CurrentScaling or MXFP8BlockScaling as the "
     "recipe; or DelayedScaling(margin=1, amax_compute_algo='max') with a "
     "shorter amax_history_len."},
    {Cause::kFp8Scaling, "megatron",
     "--fp8-recipe tensorwise or mxfp8; or --fp8-margin 1 and a shorter "
     "--fp8-amax-history-len; --first-last-layers-bf16 for the outer layers."},

    {Cause::kSilentCorruption, "",
     "Take the named device out and let the run go on without it; test it "
     "alone (the same input twice, and on another device). If the fault moves "
     "with the data, it is the data."},
    {Cause::kSilentCorruption, "pytorch",
     "NVIDIA: dcgmi diag -r 3 and the XID and ECC counts of the node. Ascend: "
     "NPU_ASD_ENABLE=1 and its matmul checksum."},
    {Cause::kSilentCorruption, "megatron",
     "--rerun-mode validate_results: it tells transient from persistent "
     "faults. For a collective, --check-for-nan-in-loss-and-grad names the "
     "rank."},
    {Cause::kSilentCorruption, "deepspeed",
     "prescale_gradients: true keeps a sum over ranks inside fp16; if it is "
     "bad still, test the link (nccl-tests with -c 1)."},
    {Cause::kSilentCorruption, "mindspore",
     "Set NPU_ASD_ENABLE=1 for silent faults, and run the device's self test."},

    {Cause::kDivergence, "",
     "Resume from a checkpoint before the named step with a lower learning "
     "rate or another data order; a loss scale does not mend this."},

    {Cause::kRankDisagreement, "",
     "Make one decision for all ranks: reduce the overflow flag over them "
     "before the scaler acts. Restart from a checkpoint: the weights differ."},
    {Cause::kRankDisagreement, "",
     "Where replicas differ: resume from the last checkpoint at which they "
     "were "
     "equal, or broadcast the weights of one rank; look for parameters that no "
     "reduction covers (layer norms), other seeds, and a faulty device."},
    {Cause::kRankDisagreement, "pytorch",
     "With FSDP use ShardedGradScaler; with DDP let every rank call "
     "scaler.step on reduced gradients. Apex: one scaler, not one a process."},
    {Cause::kRankDisagreement, "ascend_tf",
     "NPULossScaleOptimizer(..., is_distributed=True)."},
    {Cause::kRankDisagreement, "mindspore",
     "Reduce the overflow flag with AllReduce before the update cell."},
    {Cause::kRankDisagreement, "megatron",
     "found_inf must be reduced over the model-parallel group; look for a "
     "rank of another version."},
    {Cause::kRankDisagreement, "deepspeed",
     "Look for ranks that run another version or configuration."},

    {Cause::kScalerMisuse, "",
     "Save and restore the scaler with the checkpoint, and let each attempt "
     "unscale, step and update it exactly once."},
    {Cause::kScalerMisuse, "pytorch",
     "Once an attempt: unscale_, step(optimizer), update(); and "
     "scaler.load_state_dict at resume."},
    {Cause::kScalerMisuse, "ascend_tf",
     "One NPULossScaleOptimizer a model; do not assign its loss scale."},
    {Cause::kScalerMisuse, "keras",
     "Do not wrap the optimizer twice in LossScaleOptimizer."},
    {Cause::kScalerMisuse, "jax",
     "Keep what loss_scale.adjust() returns in the train state."},

    {Cause::kSilence, "",
     "Look at the named rank's process and node: hung in a collective, killed, "
     "or cut off. If it is gone on purpose, close the run."},

    {Cause::kUnexplained, "",
     "Collect op statuses of the next steps (a client answers requests), then "
     "look again."},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::string_view Recognise(std::string_view text) {
  static constexpr struct {
    std::string_view part;
    std::string_view framework;
  } kParts[] = {
      {"ascend_tf", "ascend_tf"},
      {"npu_bridge", "ascend_tf"},
      {"megatron", "megatron"},
      {"nemo", "megatron"},
      {"deepspeed", "deepspeed"},
      {"fairseq", "fairseq"},
      {"mind", "mindspore"},
      {"keras", "keras"},
      {"tensorflow", "keras"},
      {"jax", "jax"},
      {"jmp", "jax"},
      {"flax", "jax"},
      {"torch", "pytorch"},
      {"fsdp", "pytorch"},
      {"apex", "pytorch"},
      {"lightning", "pytorch"},
  };
  const std::string lower = Lower(text);
  for (const auto& entry : kParts) {
    if (lower.find(entry.part) != std::string::npos) return entry.framework;
  }
  return "";
}

// A static scale whose overflow check is off skips no update.
bool IsCured(Cause cause, const RunDescription& run) {
  return cause == Cause::kHarmlessPadding &&
         run.scaler.kind == ScalingKind::kStatic &&
         run.scaler.overflow_check == false;
}

}  // namespace

std::string_view FrameworkOf(const RunDescription& run,
                             const RunEvidence& evidence) {
  const std::string_view said = Recognise(run.framework);
  if (!said.empty()) return said;
  const std::string_view declared = Recognise(run.scaler.name);
  return !declared.empty() ? declared : Recognise(evidence.scaler);
}

std::vector<Action> ActionsFor(Cause cause, const RunDescription& run,
                               std::string_view framework) {
  const When when = IsCured(cause, run) ? When::kCured : When::kNotCured;
  std::vector<Action> actions;
  for (const Advice& advice : kAdvice) {
    if (advice.cause != cause || advice.when != when) continue;
    const bool meant = advice.framework.empty() || framework.empty() ||
                       advice.framework == framework;
    if (!meant) continue;
    actions.push_back(
        {std::string(advice.framework), std::string(advice.sentence)});
  }
  return actions;
}

}  // namespace nanwatch
