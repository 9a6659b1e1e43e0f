// InternLM, InternEvo: sample lines in their texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"commas, one norm",
     "2023-07-07 12:29:01,636\tINFO train.py:323 in "
     "record_current_batch_training_metrics -- tflops=189.5,step=1,loss=11.5,"
     "tgs (tokens/gpu/second)=4274.45,lr=6e-07,loss_scale=65536.0,"
     "grad_norm=65.25,micro_num=4,num_consumed_tokens=262144,"
     "inf_nan_skip_batches=0,num_samples_in_batch=16,fwd_bwd_time=3.67",
     "step=1 loss=11.5 loss_scale=65536 grad_norm=65.25 learning_rate=6e-07 "
     "clean skipped_total=0"},
    {"blanks, a norm for each group, losses of its datasets",
     "INFO [training_internlm.py, line 600, in "
     "record_current_batch_training_metrics] - pid=117 : tflops=30.5 step=7 "
     "loss=2.25 tgs (tokens/gpu/second)=246.32 tgs/last_tgs_1=246.32 "
     "lr=4e-07 loss_scale=65536.0 grad_norm={'0_default': 1.5, '1_fp32': 0.0}"
     " moe_loss=3.25 micro_num=4 inf_nan_skip_batches=3 acc=0.5 "
     "loss_from_metric=2.75 loss/en=2.5 loss/cn=nan ",
     "step=7 loss=2.25 loss_scale=65536 grad_norm=1.5 learning_rate=4e-07 "
     "clean skipped_total=3"},
    {"an overflow has the norm -1, a NaN -2",
     "record_current_batch_training_metrics -- step=8,loss=2.5,lr=1e-05,"
     "loss_scale=1,grad_norm={'0_default': -1},inf_nan_skip_batches=4,x\n"
     "record_current_batch_training_metrics -- step=9,loss=nan,lr=1e-05,"
     "loss_scale=1,grad_norm={'0_default': 0.5, '1_fp32': -2},x=1,\n"
     "record_current_batch_training_metrics -- step=10,loss=2.5,lr=1e-05,"
     "loss_scale=1,grad_norm=-1,micro_num=4",
     "step=8 loss=2.5 loss_scale=1 learning_rate=1e-05 overflowed "
     "skipped_total=4\n"
     "step=9 loss=nan loss_scale=1 grad_norm=nan learning_rate=1e-05 "
     "overflowed\n"
     "step=10 loss=2.5 loss_scale=1 learning_rate=1e-05 overflowed"},
    {"a norm that is not finite is of a batch that was skipped",
     "record_current_batch_training_metrics -- step=11,loss=2.5,lr=1e-05,"
     "loss_scale=4.0,grad_norm={'0_default': nan},inf_nan_skip_batches=5,x\n"
     "record_current_batch_training_metrics -- step=12,loss=2.5,lr=1e-05,"
     "loss_scale=2.0,grad_norm=inf,inf_nan_skip_batches=6,micro_num=4",
     "step=11 loss=2.5 loss_scale=4 grad_norm=nan learning_rate=1e-05 "
     "overflowed skipped_total=5\n"
     "step=12 loss=2.5 loss_scale=2 grad_norm=inf learning_rate=1e-05 "
     "overflowed skipped_total=6"},
    {"torn; another function's line",
     "record_current_batch_training_metrics -- tflops=63.2,step=8,lo\n"
     "record_current_batch_training_metrics -- step=9,loss=2.5,lr=1e-05,"
     "loss_scale=65536.0,grad_norm={'0_default': 1.\n"
     "hybrid_zero_optim.py:295 in _partition_param_list -- step=1,loss=2,",
     "step=9 loss=2.5 loss_scale=65536 learning_rate=1e-05"},
};

}  // namespace

const SampleTable kInternLmSamples = {"internlm", kLines};

}  // namespace nanwatch
