// WeNet: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"batches of two epochs, old and new",
     "2021-05-04 10:00:00,123 DEBUG TRAIN Batch 0/100 loss 95.25 loss_att "
     "113.1 loss_ctc 53.8 lr 0.00080 rank 0\n"
     "DEBUG TRAIN Batch 0/200 loss nan loss_att nan lr 0.00080 grad_norm nan "
     "rank 0\n"
     "DEBUG TRAIN Batch 1/100 loss 85.5 lr 0.00080 grad_norm 5.5 rank 0\n"
     "TRAIN | steps/sec 0.8| Batch 1/200 loss 80.5 lr 0.00080 rank 0",
     "step=100 loss=95.25 learning_rate=0.0008 rank=0\n"
     "step=200 loss=nan grad_norm=nan learning_rate=0.0008 rank=0\n"
     "step=300 loss=85.5 grad_norm=5.5 learning_rate=0.0008 rank=0\n"
     "step=400 loss=80.5 learning_rate=0.0008 rank=0"},
    {"glued, torn",
     "TRAIN Batch 0/100 loss 2.5 lr 0.TRAIN Batch 0/100 loss 2.5 lr 0.5 rank 0"
     "\nTRAIN Batch 0/200 loss 2.",
     "step=100 loss=2.5\nstep=100 loss=2.5 learning_rate=0.5 rank=0"},
    {"a validation", "DEBUG CV Batch 0/100 loss 9.5 history loss 9.25 rank 0",
     ""},
};

}  // namespace

const SampleTable kWeNetSamples = {"wenet", kLines};

}  // namespace nanwatch
