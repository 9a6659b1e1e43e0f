#include "diagnose/advice.h"

namespace nanwatch {
namespace {

constexpr Advice kAdvice[] = {
    {Cause::kHarmlessPadding, "",
     "Stop it: no update goes through, so every further step is lost. Start it "
     "again with the cure below.",
     When::kStuck},
    {Cause::kHarmlessPadding, "",
     "Use a fixed loss scale with the overflow check off, so that no update is "
     "skipped for it.",
     When::kSick},
    {Cause::kHarmlessPadding, "",
     "To be sure, give nanwatch_observe the op's elements without the padding: "
     "it then counts those that matter.",
     When::kUnsure},
    {Cause::kHarmlessPadding, "ascend_tf",
     "NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=1024, "
     "enable_overflow_check=False)).",
     When::kSick},
    {Cause::kHarmlessPadding, "mindspore",
     "Train with FixedLossScaleManager(loss_scale, "
     "drop_overflow_update=False).",
     When::kSick},
    {Cause::kHarmlessPadding, "pytorch",
     "On an NPU set INF_NAN_MODE_ENABLE=1, so that values are checked and not "
     "the sticky float status; or scale the loss by a constant instead of "
     "GradScaler.",
     When::kSick},
    {Cause::kHarmlessPadding, "megatron",
     "Mask the padding before the op; on an NPU set INF_NAN_MODE_ENABLE=1, so "
     "that gradients are checked and not the sticky float status. A constant "
     "--loss-scale alone skips as many.",
     When::kSick},
    {Cause::kHarmlessPadding, "deepspeed",
     "Mask the padding before the op; on an NPU set INF_NAN_MODE_ENABLE=1, so "
     "that gradients are checked and not the sticky float status. A constant "
     "fp16.loss_scale alone skips as many.",
     When::kSick},
    {Cause::kHarmlessPadding, "fairseq",
     "Mask the padding before the op: fairseq checks the gradient norm, so the "
     "Inf reaches it.",
     When::kSick},
    {Cause::kHarmlessPadding, "keras",
     "LossScaleOptimizer(opt, dynamic=False, initial_scale=1024).",
     When::kSick},
    {Cause::kHarmlessPadding, "jax",
     "Use jmp.StaticLossScale, and mask the padding with jnp.where before the "
     "op.",
     When::kSick},
    {Cause::kHarmlessPadding, "",
     "Nothing: the update is applied all the same. To silence even this note, "
     "mask the padding before the op, or name an op that masks on purpose in "
     "engine.masked_ops.",
     When::kCured},

    {Cause::kStartupCalibration, "",
     "Nothing, if it ends within the scaler's grace. A lower initial scale "
     "saves the skipped steps.",
     When::kNow},
    {Cause::kStartupCalibration, "",
     "Nothing: it is over. A lower initial scale saves the skipped steps in "
     "the next run.",
     When::kOver},
    {Cause::kStartupCalibration, "pytorch",
     "GradScaler(init_scale=...) near the scale it settles at."},
    {Cause::kStartupCalibration, "megatron",
     "--initial-loss-scale near the scale it settles at."},
    {Cause::kStartupCalibration, "deepspeed",
     "fp16.initial_scale_power: the log2 of the scale it settles at."},
    {Cause::kStartupCalibration, "apex",
     "amp.initialize(..., max_loss_scale=...): the search begins there, or at "
     "65536 where that is lower."},
    {Cause::kStartupCalibration, "fairseq",
     "--fp16-init-scale near the scale it settles at."},
    {Cause::kStartupCalibration, "hf_trainer",
     "With Accelerate: GradScalerKwargs(init_scale=...) among the "
     "kwargs_handlers."},
    {Cause::kStartupCalibration, "nemo",
     "model.native_amp_init_scale near the scale it settles at."},
    {Cause::kStartupCalibration, "colossalai",
     "initial_scale of the plugin near the scale it settles at."},
    {Cause::kStartupCalibration, "mindspore",
     "DynamicLossScaleManager(init_loss_scale=...) near the scale it settles "
     "at."},
    {Cause::kStartupCalibration, "mindformers",
     "runner_wrapper.scale_sense.loss_scale_value near the scale it settles "
     "at."},
    {Cause::kStartupCalibration, "mindyolo",
     "--ms_loss_scaler_value near the scale it settles at."},
    {Cause::kStartupCalibration, "paddle",
     "GradScaler(init_loss_scaling=...), in PaddleNLP --scale_loss, near the "
     "scale it settles at."},
    {Cause::kStartupCalibration, "ascend_tf",
     "ExponentialUpdateLossScaleManager(init_loss_scale=...) near the scale it "
     "settles at; 2**32 costs 30 and more steps."},
    {Cause::kStartupCalibration, "keras",
     "LossScaleOptimizer(opt, initial_scale=...) near the scale it settles "
     "at."},
    {Cause::kStartupCalibration, "jax",
     "jmp.DynamicLossScale(...) that starts near the scale it settles at."},

    {Cause::kRangeOverflow, "",
     "Nothing while it is rare: after the start, one overflow in a growth "
     "interval (2,000 steps in PyTorch, 1,000 in others) is the scaler's own "
     "probing. If there are more: lower the learning rate, clip gradients, or "
     "use bf16.",
     When::kRare},
    {Cause::kRangeOverflow, "",
     "Find what made the gradients grow at the named step (learning rate, "
     "batch, a new stage of training): lower the learning rate or clip, and "
     "watch whether the scale stands; bf16 has the range of fp32.",
     When::kOften},
    {Cause::kRangeOverflow, "",
     "Divide the fixed loss scale by 16 and look again, or let a dynamic "
     "scaler find it; bf16 needs none.",
     When::kFixed},
    {Cause::kRangeOverflow, "pytorch",
     "GradScaler with update() once a step lowers the scale by itself.",
     When::kFixed},
    {Cause::kRangeOverflow, "megatron",
     "Take off --loss-scale, so that the scale is dynamic, or use --bf16.",
     When::kFixed},
    {Cause::kRangeOverflow, "deepspeed",
     "Set fp16.loss_scale to 0 (dynamic), or bf16.enabled: true.",
     When::kFixed},
    {Cause::kRangeOverflow, "apex",
     "amp.initialize(..., loss_scale='dynamic') instead of a fixed number.",
     When::kFixed},
    {Cause::kRangeOverflow, "mindspore",
     "DynamicLossScaleManager instead of FixedLossScaleManager, or a lower "
     "loss_scale.",
     When::kFixed},
    {Cause::kRangeOverflow, "ascend_tf",
     "ExponentialUpdateLossScaleManager instead of FixedLossScaleManager, or a "
     "lower loss_scale.",
     When::kFixed},
    {Cause::kRangeOverflow, "keras",
     "LossScaleOptimizer(opt): leave dynamic on.", When::kFixed},
    {Cause::kRangeOverflow, "jax",
     "jmp.DynamicLossScale instead of jmp.StaticLossScale.", When::kFixed},
    {Cause::kRangeOverflow, "pytorch",
     "scaler.unscale_(optimizer), then clip_grad_norm_(parameters, 1.0).",
     When::kOften},
    {Cause::kRangeOverflow, "megatron", "--clip-grad 1.0, or --bf16.",
     When::kOften},
    {Cause::kRangeOverflow, "deepspeed",
     "gradient_clipping: 1.0, a shorter fp16.loss_scale_window only if the "
     "scale must come back sooner; or bf16.enabled.",
     When::kOften},
    {Cause::kRangeOverflow, "fairseq",
     "--clip-norm, or --fp16-scale-tolerance above 0, so that single overflows "
     "do not lower the scale; or --bf16.",
     When::kOften},
    {Cause::kRangeOverflow, "mindformers",
     "runner_wrapper: use_clip_grad True, max_grad_norm 1.0.", When::kOften},
    {Cause::kRangeOverflow, "mindyolo", "--clip_grad True.", When::kOften},
    {Cause::kRangeOverflow, "hf_trainer", "--max_grad_norm 1.0, or --bf16.",
     When::kOften},

    {Cause::kCollapseWithUnderflow, "",
     "Stop it: what comes after this step teaches the model nothing. {Back}, "
     "with a lower learning rate and clipped gradients, or in bf16, which "
     "needs no scale. A lower minimum of the scale, or a slower fall, does not "
     "help: find what overflows.",
     When::kStuck},
    {Cause::kCollapseWithUnderflow, "",
     "Stop and {back}, with a lower learning rate, gradient clipping or bf16; "
     "first mend what overflows.",
     When::kLow},
    {Cause::kCollapseWithUnderflow, "",
     "Nothing now: updates went through again. In the next run begin at a "
     "scale near the one that fits, or use bf16, so that the floor is not "
     "reached.",
     When::kOver},
    {Cause::kCollapseWithUnderflow, "pytorch",
     "GradScaler has no floor: stop when scaler.get_scale() < 1. "
     "torch.autocast(dtype=torch.bfloat16) needs no GradScaler."},
    {Cause::kCollapseWithUnderflow, "megatron",
     "--bf16; or a higher --min-loss-scale while only some updates overflow at "
     "that scale: where all do, it skips as many.",
     When::kLow},
    {Cause::kCollapseWithUnderflow, "megatron",
     "--bf16; or --clip-grad 1.0 and a lower --lr. A higher --min-loss-scale "
     "would skip as many.",
     When::kStuck},
    {Cause::kCollapseWithUnderflow, "megatron",
     "--initial-loss-scale near the scale that fits, or --bf16.", When::kOver},
    {Cause::kCollapseWithUnderflow, "deepspeed",
     "bf16.enabled: true; or a higher fp16.min_loss_scale, "
     "fp16.initial_scale_power near the scale that fits, fp16.hysteresis above "
     "2, a shorter fp16.loss_scale_window, gradient_clipping: 1.0.",
     When::kLow},
    {Cause::kCollapseWithUnderflow, "deepspeed",
     "bf16.enabled: true; or gradient_clipping: 1.0 and a lower learning rate. "
     "At fp16.min_loss_scale some of its optimizers raise, and some go on "
     "skipping for ever.",
     When::kStuck},
    {Cause::kCollapseWithUnderflow, "deepspeed",
     "fp16.initial_scale_power near the log2 of the scale that fits, "
     "fp16.hysteresis above 2, a higher fp16.min_loss_scale; or bf16.enabled: "
     "true.",
     When::kOver},
    {Cause::kCollapseWithUnderflow, "apex",
     "Apex has no floor unless amp.initialize gets min_loss_scale; prefer "
     "torch.autocast(dtype=torch.bfloat16), and clip "
     "amp.master_params(optimizer)."},
    {Cause::kCollapseWithUnderflow, "fairseq",
     "--bf16; or a lower --lr, --clip-norm, longer --warmup-updates, and "
     "--fp16-scale-tolerance above 0. --threshold-loss-scale holds the scale, "
     "--min-loss-scale only ends the run sooner."},
    {Cause::kCollapseWithUnderflow, "hf_trainer",
     "--bf16 instead of --fp16; or a lower --learning_rate, more "
     "--warmup_steps and --max_grad_norm 1.0. A checkpoint made in bf16 often "
     "overflows in fp16."},
    {Cause::kCollapseWithUnderflow, "lightning",
     "Trainer(precision='bf16-mixed', gradient_clip_val=1.0)."},
    {Cause::kCollapseWithUnderflow, "nemo",
     "trainer.precision=bf16-mixed; or model.native_amp_init_scale, "
     "model.hysteresis and trainer.gradient_clip_val=1.0."},
    {Cause::kCollapseWithUnderflow, "mmcv",
     "fp16 = dict(loss_scale=512.) fixes the scale; optimizer_config = "
     "dict(grad_clip=dict(max_norm=35, norm_type=2)) clips."},
    {Cause::kCollapseWithUnderflow, "mmengine",
     "optim_wrapper = dict(type='AmpOptimWrapper', dtype='bfloat16', "
     "clip_grad=dict(max_norm=35, norm_type=2))."},
    {Cause::kCollapseWithUnderflow, "colossalai",
     "precision='bf16' of the plugin; or initial_scale, min_scale, hysteresis "
     "and max_norm."},
    {Cause::kCollapseWithUnderflow, "guided_diffusion",
     "--use_fp16 False. Its log2 scale has no floor: each NaN takes 1 off it, "
     "so stop at once, and {back}."},
    {Cause::kCollapseWithUnderflow, "torch_npu",
     "torch.autocast('npu', dtype=torch.bfloat16) needs no GradScaler, which "
     "here has no floor either."},
    {Cause::kCollapseWithUnderflow, "mindspore",
     "Train in bfloat16; or ops.clip_by_global_norm before the update, and "
     "DynamicLossScaleManager with a lower init_loss_scale."},
    {Cause::kCollapseWithUnderflow, "mindformers",
     "compute_dtype: bfloat16 in model_config; or use_clip_grad: True under "
     "runner_wrapper, softmax_compute_type and layernorm_compute_type "
     "float32."},
    {Cause::kCollapseWithUnderflow, "mindyolo",
     "--ms_amp_level O0 for fp32, or --ms_loss_scaler static with --clip_grad "
     "True and a lower learning rate."},
    {Cause::kCollapseWithUnderflow, "ascend_tf",
     "Set decr_ratio=0.5 and a shorter incr_every_n_steps, or a fixed scale."},
    {Cause::kCollapseWithUnderflow, "paddle",
     "paddle.amp.auto_cast(dtype='bfloat16'), in PaddleNLP --bf16; or a lower "
     "learning rate and paddle.nn.ClipGradByGlobalNorm(1.0), in PaddleNLP "
     "--max_grad_norm."},
    {Cause::kCollapseWithUnderflow, "keras",
     "The policy mixed_bfloat16 needs no scale; or global_clipnorm=1.0 of the "
     "optimizer."},
    {Cause::kCollapseWithUnderflow, "jax",
     "A jmp policy with compute_dtype bfloat16; or "
     "optax.clip_by_global_norm(1.0) before the update."},

    {Cause::kUnderflow, "",
     "Look at what makes gradients 0, as weights of 0, an activation that is 0 "
     "everywhere (dead ReLUs), a factor of 0, a detach, a loss that stands "
     "(clamped, or masked everywhere).",
     When::kNotScaled},
    {Cause::kUnderflow, "",
     "Scale the loss higher: a dynamic scaler that may grow finds the scale by "
     "itself. With bf16 none is needed.",
     When::kScaled},
    {Cause::kUnderflow, "pytorch",
     "Let GradScaler grow: call update() at each step, and shorten "
     "growth_interval if it has far to go.",
     When::kScaled},
    {Cause::kUnderflow, "megatron",
     "Take off --loss-scale, so that the scale is dynamic, or use --bf16.",
     When::kScaled},
    {Cause::kUnderflow, "deepspeed",
     "Set fp16.loss_scale to 0 (dynamic), with fp16.initial_scale_power at the "
     "log2 of the scale named.",
     When::kScaled},
    {Cause::kUnderflow, "fairseq",
     "Raise --fp16-init-scale, and shorten --fp16-scale-window.",
     When::kScaled},
    {Cause::kUnderflow, "apex",
     "amp.initialize(..., loss_scale='dynamic') instead of a fixed number.",
     When::kScaled},
    {Cause::kUnderflow, "ascend_tf",
     "Raise incr_ratio or shorten incr_every_n_steps of "
     "ExponentialUpdateLossScaleManager.",
     When::kScaled},
    {Cause::kUnderflow, "mindspore",
     "DynamicLossScaleManager(init_loss_scale=..., scale_window=...) instead "
     "of a fixed scale.",
     When::kScaled},
    {Cause::kUnderflow, "mindformers",
     "runner_wrapper.scale_sense of type DynamicLossScaleUpdateCell with a "
     "higher loss_scale_value and a shorter scale_window.",
     When::kScaled},
    {Cause::kUnderflow, "mindyolo",
     "--ms_loss_scaler dynamic, or a higher --ms_loss_scaler_value.",
     When::kScaled},
    {Cause::kUnderflow, "paddle",
     "GradScaler(use_dynamic_loss_scaling=True) with a shorter "
     "incr_every_n_steps; in PaddleNLP a higher --scale_loss.",
     When::kScaled},
    {Cause::kUnderflow, "mmcv", "fp16 = dict(loss_scale='dynamic').",
     When::kScaled},
    {Cause::kUnderflow, "mmengine",
     "optim_wrapper = dict(type='AmpOptimWrapper', loss_scale='dynamic').",
     When::kScaled},
    {Cause::kUnderflow, "keras",
     "LossScaleOptimizer(opt, initial_scale=...); leave dynamic on.",
     When::kScaled},
    {Cause::kUnderflow, "jax",
     "jmp.DynamicLossScale instead of a constant, with a shorter period.",
     When::kScaled},

    {Cause::kScalerMisuse, "",
     "Save and restore the scaler with the checkpoint, and unscale, step and "
     "update it exactly once a step."},
    {Cause::kScalerMisuse, "pytorch",
     "Once a step: unscale_, step(optimizer), update(); and "
     "scaler.load_state_dict at resume."},
    {Cause::kScalerMisuse, "apex",
     "amp.state_dict() into the checkpoint, amp.load_state_dict at resume; one "
     "loss_id a loss where num_losses is above 1."},
    {Cause::kScalerMisuse, "ascend_tf",
     "One NPULossScaleOptimizer a model; do not assign its loss scale."},
    {Cause::kScalerMisuse, "keras",
     "Do not wrap the optimizer twice in LossScaleOptimizer."},
    {Cause::kScalerMisuse, "jax",
     "Keep what loss_scale.adjust() returns in the train state."},

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
    {Cause::kNoSingleScale, "paddle",
     "paddle.amp.auto_cast(dtype='bfloat16'), or the named ops on its "
     "custom_black_list."},
    {Cause::kNoSingleScale, "ascend_tf",
     "Add the named ops to the black list of modify_mixlist."},
    {Cause::kNoSingleScale, "keras",
     "mixed_bfloat16 instead of mixed_float16, or dtype='float32' for the "
     "named layers."},
    {Cause::kNoSingleScale, "jax", "A jmp policy with compute_dtype bfloat16."},

    {Cause::kLayerScales, "",
     "`nanwatch layers RUN --scales` shows each layer's range and scale; "
     "`--yaml` gives scales that suit."},
};

}  // namespace

std::span<const Advice> AdviceOnScales() { return kAdvice; }

}  // namespace nanwatch
