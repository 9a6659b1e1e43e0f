#include "diagnose/advice.h"
#include "diagnose/first_look.h"

namespace nanwatch {
namespace {

constexpr Advice kAdvice[] = {
    {Cause::kNanFromForward, "",
     "Look at the named op and at the batch of the first bad step. Usual "
     "reasons: log or sqrt of a value <= 0, a division by 0, an exp or a sum "
     "beyond the format.",
     When::kOfOp},
    {Cause::kNanFromForward, "",
     "Look at the data of that step: mend them, or leave such samples out.",
     When::kBroughtIn},
    {Cause::kNanFromForward, "",
     "Find the op: look at the batch of the first bad step, and run it again "
     "with the framework's check for NaN. Usual reasons: log or sqrt of a "
     "value <= 0, a division by 0, an exp or a sum beyond the format.",
     When::kNoOps},
    {Cause::kNanFromForward, "",
     "Then {back}, unless all updates since were skipped: NaN spoils every "
     "weight.",
     When::kSevere},
    {Cause::kNanFromForward, "",
     "It was so from the first record on: see first whether this is the loss "
     "that is trained on, and not a term that is only printed. If it is, look "
     "at the weights that it began with and at the first batch.",
     When::kNeverFinite},
    {Cause::kNanFromForward, "",
     "Go on: losses after it are finite, so no weight is NaN. Leave such "
     "batches out, or mask their loss.",
     When::kOutlived},
    {Cause::kNanFromForward, "",
     "Then {back}: an update wrote NaN into the weights.", When::kSpoilt},
    {Cause::kNanFromForward, "",
     "Where the losses after it are finite, no weight is NaN: leave such "
     "batches out, or mask their loss. Else {back}.",
     When::kMild},
    {Cause::kNanFromForward, "",
     "Leave the loss scale as it is: a lower one does not help.",
     When::kScaledNow},
    {Cause::kNanFromForward, "pytorch", "Clamp the op's input.",
     When::kOfFp32Op},
    {Cause::kNanFromForward, "pytorch",
     "Clamp the op's input, or keep it in fp32 with "
     "torch.autocast(enabled=False).",
     When::kOfOtherOp},
    {Cause::kNanFromForward, "pytorch",
     "torch.autograd.set_detect_anomaly(True) names the function, if its "
     "backward is NaN too; a forward hook with torch.isfinite names the "
     "module.",
     When::kNoOps},
    {Cause::kNanFromForward, "megatron",
     "--check-for-nan-in-loss-and-grad stops at the first; "
     "--iterations-to-skip leaves its data out."},
    {Cause::kNanFromForward, "deepspeed",
     "torch.autograd.set_detect_anomaly(True) names the op."},
    {Cause::kNanFromForward, "fairseq",
     "The NanDetector names the module; skip the batch or keep the module in "
     "fp32."},
    {Cause::kNanFromForward, "hf_trainer",
     "--debug underflow_overflow names the module; --logging_nan_inf_filter "
     "False, or a NaN loss is left out of the logged mean."},
    {Cause::kNanFromForward, "lightning",
     "Trainer(detect_anomaly=True) names the op."},
    {Cause::kNanFromForward, "mmcv",
     "custom_hooks = [dict(type='CheckInvalidLossHook', interval=1)] stops at "
     "the first (MMDetection has it); then "
     "torch.autograd.set_detect_anomaly(True)."},
    {Cause::kNanFromForward, "mmengine",
     "custom_hooks = [dict(type='CheckInvalidLossHook', interval=1)] stops at "
     "the first (MMDetection has it); then "
     "torch.autograd.set_detect_anomaly(True)."},
    {Cause::kNanFromForward, "torch_npu",
     "msprobe's overflow_check names the op; INF_NAN_MODE_ENABLE=1, or the NaN "
     "becomes 0 before you see it."},
    {Cause::kNanFromForward, "guided_diffusion",
     "--use_fp16 False or a lower --lr; a resume needs model, EMA and "
     "optimizer. The scaler only echoes the NaN."},
    {Cause::kNanFromForward, "mindspore",
     "Keep the op in fp32 (amp.custom_mixed_precision black list), and check "
     "the dataset at that step."},
    {Cause::kNanFromForward, "paddle",
     "FLAGS_check_nan_inf=1, or paddle.amp.debugging.enable_tensor_checker, "
     "names the op."},
    {Cause::kNanFromForward, "ascend_tf",
     "Keep the op in fp32 (modify_mixlist black list); in saturation mode NaN "
     "becomes 0, so trust the float status and not the loss."},
    {Cause::kNanFromForward, "keras",
     "tf.debugging.enable_check_numerics(), on JAX jax_debug_nans, on PyTorch "
     "set_detect_anomaly(True) names the op."},
    {Cause::kNanFromForward, "jax",
     "jax.config.update('jax_debug_nans', True) names the op."},

    {Cause::kNanFromBackward, "",
     "On the way back from the loss, look for an op whose value is finite and "
     "whose slope is infinite: sqrt, norm or pow at 0, a division or a log at "
     "its edge. Add an epsilon inside it, or mask its input; a mask on its "
     "result comes too late."},
    {Cause::kNanFromBackward, "",
     "Look in the batch of the first bad step for what is exactly 0, empty or "
     "masked: such values have an infinite slope there."},
    {Cause::kNanFromBackward, "pytorch",
     "Run that step under torch.autograd.set_detect_anomaly(True): it names "
     "the function whose backward returned the NaN, and the line that called "
     "it."},
    {Cause::kNanFromBackward, "megatron",
     "--check-for-nan-in-loss-and-grad stops at the first; "
     "--iterations-to-skip leaves its data out."},
    {Cause::kNanFromBackward, "lightning",
     "Trainer(detect_anomaly=True) names the function."},
    {Cause::kNanFromBackward, "paddle",
     "FLAGS_check_nan_inf=1, or paddle.amp.debugging.enable_tensor_checker, "
     "names the op, of the backward pass too."},
    {Cause::kNanFromBackward, "jax",
     "jax.config.update('jax_debug_nans', True) names the op. Of jnp.where "
     "both branches have gradients: give the one that is not taken an input "
     "that it can stand. optax.apply_if_finite leaves such an update out."},

    {Cause::kScaleIndependentOp, "",
     "Keep the named op in fp32, or clamp or mask its input. Do not wait for "
     "the scaler."},
    {Cause::kScaleIndependentOp, "pytorch",
     "Wrap the op in torch.autocast(enabled=False) and feed it .float()."},
    {Cause::kScaleIndependentOp, "ascend_tf",
     "Add the op to the black list of modify_mixlist, or use "
     "precision_mode=allow_fp32_to_fp16 with it in fp32."},
    {Cause::kScaleIndependentOp, "mindspore",
     "Put the cell on the black list of amp.auto_mixed_precision."},
    {Cause::kScaleIndependentOp, "paddle",
     "Add the op to custom_black_list of paddle.amp.auto_cast."},
    {Cause::kScaleIndependentOp, "keras", "Give the layer dtype='float32'."},
    {Cause::kScaleIndependentOp, "jax",
     "Cast the op's input to float32 in the jmp policy."},

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

    {Cause::kOutlierBatch, "",
     "Look at the samples of the named step: their range, their labels, how "
     "they were decoded. The loss scale needs no change.",
     When::kScaled},
    {Cause::kOutlierBatch, "",
     "Look at the samples of the named step: their range, their labels, how "
     "they were decoded. Clipping the gradients takes the weight from such a "
     "batch.",
     When::kNotScaled},

    {Cause::kLearnsYet, "",
     "Nothing needs to be done. Where a start takes too long, other initial "
     "weights, a normalisation or another learning rate shorten it."},

    {Cause::kDivergence, "",
     "{Back}, with a lower learning rate or clipped gradients{data}.",
     When::kSevere},
    {Cause::kDivergence, "",
     "Many spikes come back within some hundred steps. Where this one does "
     "not, {back}, with a lower learning rate or past that data.",
     When::kPasses},
    {Cause::kDivergence, "",
     "{Back}, with a lower learning rate or clipped gradients{data}.",
     When::kStays},
    {Cause::kDivergence, "",
     "Scale the inputs and the targets to about 1, and begin anew with a lower "
     "learning rate.",
     When::kFromStart},
    {Cause::kDivergence, "",
     "Clip the gradients or lower the learning rate. Where the loss or the "
     "reward gets worse as well, {back}.",
     When::kNormStays},
    {Cause::kDivergence, "",
     "Call optimizer.zero_grad() once for each update. Where that is done, "
     "clip the gradients or lower the learning rate, and watch the loss.",
     When::kGrows},
    {Cause::kDivergence, "",
     "Leave the loss scale as it is: no other value mends this.",
     When::kScaledNow},
    {Cause::kDivergence, "",
     "Nothing now. If it happens again, lower the learning rate "
     "or skip that data.",
     When::kOver},
    {Cause::kWeightsLost, "",
     "See which checkpoint was loaded there: its path, its step, missing keys "
     "that were passed over. Go on from the last one before it, loaded whole.",
     When::kNow},
    {Cause::kWeightsLost, "",
     "What was lost is learned again. See whether the program loads its whole "
     "checkpoint.",
     When::kOver},
    {Cause::kDivergence, "pytorch",
     "torch.nn.utils.clip_grad_norm_(parameters, 1.0) before the step, and a "
     "lower learning rate or a longer warm-up.",
     When::kNotScaled},
    {Cause::kDivergence, "pytorch",
     "torch.nn.utils.clip_grad_norm_(parameters, 1.0) before the step (with "
     "GradScaler after scaler.unscale_(optimizer)), and a lower learning rate "
     "or a longer warm-up.",
     When::kScaled},
    {Cause::kDivergence, "megatron",
     "--clip-grad 1.0 and a lower --lr, or --iterations-to-skip over the bad "
     "data; --log-interval 1 shows which step it was."},
    {Cause::kDivergence, "deepspeed",
     "gradient_clipping: 1.0, and a lower optimizer.params.lr."},
    {Cause::kDivergence, "fairseq",
     "--clip-norm 1.0, a lower --lr and longer --warmup-updates."},
    {Cause::kDivergence, "hf_trainer",
     "A lower --learning_rate, more --warmup_steps, --max_grad_norm 1.0."},
    {Cause::kDivergence, "lightning",
     "Trainer(gradient_clip_val=1.0), and a lower learning rate."},
    {Cause::kDivergence, "mmcv",
     "optimizer_config = dict(grad_clip=dict(max_norm=35, norm_type=2)), a "
     "lower optimizer.lr and more warmup_iters in lr_config."},
    {Cause::kDivergence, "mmengine",
     "optim_wrapper.clip_grad = dict(max_norm=35, norm_type=2), and a lower "
     "optimizer.lr."},
    {Cause::kDivergence, "mindformers",
     "use_clip_grad: True and max_grad_norm: 1.0 under runner_wrapper, and a "
     "lower learning_rate in lr_schedule."},
    {Cause::kDivergence, "mindyolo",
     "--overflow_still_update False, so that overflowed updates are dropped; "
     "--clip_grad True, and a lower lr_init."},
    {Cause::kDivergence, "mindspore",
     "ops.clip_by_global_norm, and a lower learning rate.", When::kNotScaled},
    {Cause::kDivergence, "mindspore",
     "DynamicLossScaleManager, or drop_overflow_update=True of a fixed one, "
     "drops overflowed updates; ops.clip_by_global_norm clips.",
     When::kScaled},
    {Cause::kDivergence, "paddle",
     "paddle.nn.ClipGradByGlobalNorm(1.0), in PaddleNLP --max_grad_norm 1.0, "
     "and a lower learning rate."},
    {Cause::kDivergence, "keras",
     "global_clipnorm=1.0 of the optimizer, and a lower learning_rate."},
    {Cause::kDivergence, "jax",
     "optax.clip_by_global_norm(1.0), and a longer warm-up of the schedule."},

    {Cause::kRankDisagreement, "",
     "Make one decision for all ranks: reduce the overflow flag over them "
     "before the scaler acts. Then {back}: the weights differ.",
     When::kScaled},
    {Cause::kRankDisagreement, "",
     "Where replicas differ: broadcast the weights of one rank, or {back}; "
     "look for parameters that no reduction covers (layer norms), a scheduler "
     "that each rank steps by its own loss, other seeds, and a faulty "
     "device."},
    {Cause::kRankDisagreement, "pytorch",
     "With FSDP use ShardedGradScaler; with DDP let every rank call "
     "scaler.step on reduced gradients. Apex: one scaler, not one a process.",
     When::kScaled},
    {Cause::kRankDisagreement, "ascend_tf",
     "NPULossScaleOptimizer(..., is_distributed=True)."},
    {Cause::kRankDisagreement, "mindspore",
     "Reduce the overflow flag with AllReduce before the update cell.",
     When::kScaled},
    {Cause::kRankDisagreement, "megatron",
     "found_inf must be reduced over the model-parallel group; look for a rank "
     "of another version."},
    {Cause::kRankDisagreement, "deepspeed",
     "Look for ranks that run another version or configuration."},

    {Cause::kSilence, "",
     "Look at the named rank's process and node: hung in a collective, killed, "
     "or cut off. If it is gone on purpose, close the run.",
     When::kMissing},
    {Cause::kSilence, "",
     "Nothing is wrong with the training: its client kept records while they "
     "could not be sent, and its buffer was full. See why the daemon took them "
     "slowly or not at all (its log, its disk, the network), or give the "
     "client a larger buffer.",
     When::kDropped},

    {Cause::kProgramEnded, "",
     "To go on, resume from the last good checkpoint, if there is one."},
    {Cause::kUpdateMadeWrong, "",
     "Nothing of these steps is worth keeping: {back}.", When::kOfModel},
    {Cause::kUpdateLost, "",
     "Keep the weights in fp32 and compute in bf16 (PyTorch: torch.autocast), "
     "or use an optimizer with fp32 copies, with compensated sums or with "
     "stochastic rounding."},

    {Cause::kLossMadeWrong, "",
     "See what the loss is made of: targets that are none of the "
     "classes, or shares that are not between 0 and 1; a wrong sign; nll_loss "
     "of "
     "probabilities or of bare outputs in place of log_softmax; another term "
     "beside it (a reward, an entropy). Label smoothing and weights of classes "
     "do not bring it below 0."},
    {Cause::kLossMadeWrong, "",
     "Where it is meant to be another loss, say so: settings={\"loss\": "
     "\"other\"} of the client, another name of it in a log."},
    {Cause::kLossMadeWrong, "pytorch",
     "F.cross_entropy takes the bare outputs, F.nll_loss the result of "
     "F.log_softmax, F.binary_cross_entropy probabilities and targets between "
     "0 and 1."},
    {Cause::kLossMadeWrong, "keras",
     "loss=\"binary_crossentropy\" wants labels 0 and 1, and the loss's "
     "from_logits=True where the last layer has no sigmoid or softmax."},

    {Cause::kLeftBenchmark, "",
     "`nanwatch bench show RUN` names the benchmark; `nanwatch compare` of the "
     "two says which settings differ, and which tensor parts first where both "
     "were recorded at level \"compare\"."},
    {Cause::kLeftBenchmark, "",
     "Compare the learning rates at the named step, then the order of the data "
     "and the weights that both began with. After a restart, see "
     "whether the weights, the state of the optimizer, the step of the "
     "schedule and the place in the data were loaded."},
    {Cause::kLeftBenchmark, "",
     "Where the other way is what is meant: `nanwatch bench clear`, or set "
     "another benchmark.",
     When::kNow},

    {Cause::kUnexplained, "",
     "No op that was looked at explains it. Let the client look at all of them "
     "(level ops, no module left out). Where it does, look at what ops do not "
     "show: the batches around the named step, the optimizer and its settings.",
     When::kOps},
    {Cause::kUnexplained, "",
     "Nothing of the layers is seen: let the client look at them "
     "(nanwatch.torch.watch, or the callback of a trainer), or the framework "
     "name the op.",
     When::kNoOps},
    {Cause::kUnexplained, "",
     "Let it learn ten samples by heart. If it cannot, look at the program: "
     "the learning rate, frozen weights, an optimizer that holds others, "
     "gradients that vanish before the first layers, a last layer or a loss "
     "that does not fit the labels. If it can, look at the data: labels of "
     "other inputs, inputs that are all alike.",
     When::kOfLoss},
    {Cause::kUnexplained, "", kLookAtEvaluation, When::kOfEvaluation},
    {Cause::kUnexplained, "", kLookAtTerm, When::kOfTerm},
    {Cause::kUnexplained, "", kLookAtLayer, When::kOfLayer},
    {Cause::kUnexplained, "", kLookAtScore, When::kOfScore},
    {Cause::kUnexplained, "", kLookAtBlown, When::kOfBlown},
    {Cause::kUnexplained, "", kLookAtLatents, When::kOfLatents},
    {Cause::kUnexplained, "", kLookAtRival, When::kOfRival},
    {Cause::kUnexplained, "", kLookAtData, When::kOfData},
    {Cause::kUnexplained, "", kLookAtNumber, When::kOfNumber},
    {Cause::kUnexplained, "", kLookAtSkips, When::kOfSkips},
    {Cause::kUnexplained, "", kLookAtZeroLoss, When::kOfZeroLoss},
    {Cause::kUnexplained, "", kLookAtZeroNorm, When::kOfZeroNorm},
    {Cause::kUnexplained, "", kLookAtGradients, When::kOfNorm},
    {Cause::kUnexplained, "", kLookLater, When::kOfLevel},
};

}  // namespace

std::span<const Advice> AdviceOnValues() { return kAdvice; }

}  // namespace nanwatch
