// fairseq, MLPerf Transformer: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"old text; scale with three decimals",
     "| epoch 002:   1000 / 1500 loss=4.688, nll_loss=0.000, ppl=1.00, "
     "wps=321089, ups=4.1, wpb=75003, bsz=2602, num_updates=2490, "
     "lr=0.00121799, gnorm=2.102, clip=100%, oom=0, loss_scale=0.062, wall=632",
     "step=2490 loss=4.688 loss_scale=0.0625 grad_norm=2.102 "
     "learning_rate=0.00121799"},
    {"mean of an epoch's scales; scale below what is printed",
     "| epoch 001:    100 / 1500 loss=9.1, num_updates=99, lr=0.001, gnorm=2.1,"
     " clip=0%, oom=0, loss_scale=1399.000, wall=63\n"
     "| epoch 001:    200 / 1500 loss=9.0, num_updates=199, lr=0.001, "
     "gnorm=2.1,"
     " clip=0%, oom=0, loss_scale=0.000, wall=63",
     "step=99 loss=9.1 grad_norm=2.1 learning_rate=0.001\n"
     "step=199 loss=9 loss_scale<=0.00048828125 grad_norm=2.1 "
     "learning_rate=0.001"},
    {"first versions: no updates",
     "| epoch 010  2000 / 8223 loss=1.27 (1.50), wps=962, wpb=908, bsz=32, "
     "lr=0.001, clip=100%, gnorm=2.1427",
     "step=76007 loss=1.27 learning_rate=0.001"},
    {"progress bar",
     "epoch 001:  12%|#2        | 480/4000 [01:00<07:20,  7.9it/s, loss=9.5, "
     "ppl=724.1, wps=9e3, num_updates=480, lr=6e-05, gnorm=1.5, clip=0, "
     "loss_scale=128, train_wall=50, wall=66]",
     "step=480 loss=9.5 loss_scale=128 grad_norm=1.5 learning_rate=6e-05"},
    {"new text, and the epoch's means, which say less",
     "2021-05-01 10:10:10 | INFO | train_inner | epoch 001:    100 / 4000 "
     "loss=12.25, nll_loss=12.1, ppl=4390, wps=100, ups=4, wpb=3600, bsz=100, "
     "num_updates=100, lr=1.25e-05, gnorm=3.5, loss_scale=128, train_wall=25, "
     "wall=30\n"
     "2021-05-01 11:10:10 | INFO | train | epoch 001 | loss 13.5 | nll_loss 13 "
     "| ppl 8000 | num_updates 4000 | lr 0.0005 | gnorm 2.5 | loss_scale 128 | "
     "train_wall 900 | wall 1000\n"
     "2021-05-01 11:20:10 | INFO | valid | epoch 001 | valid on 'valid' subset "
     "| loss 8.5 | nll_loss 8 | ppl 300 | num_updates 4000",
     "step=100 loss=12.25 loss_scale=128 grad_norm=3.5 "
     "learning_rate=1.25e-05"},
    {"epochs shorter than the interval: means alone",
     "2021-05-01 11:10:10 | INFO | train | epoch 001 | loss 13.5 | ppl 8000 | "
     "num_updates 40 | lr 0.0005 | gnorm 2.5 | loss_scale 64 | wall 100",
     "step=40 loss=13.5 loss_scale=64 grad_norm=2.5 learning_rate=0.0005"},
    {"overflows of three versions",
     "| WARNING: overflow detected, setting loss scale to: 64.0\n"
     "2020-05-01 10:10:10 | INFO | fairseq.trainer | NOTE: overflow detected, "
     "setting loss scale to: 32.0\n"
     "2021-05-01 10:10:10 | INFO | fairseq.trainer | NOTE: gradient overflow "
     "detected, ignoring gradient, setting loss scale to: 0.0001220703125\n"
     "| WARNING: overflow detected, setting loss scale to: 0.00006",
     "overflow loss_scale=64\noverflow loss_scale=32\n"
     "overflow loss_scale=0.0001220703125\noverflow loss_scale=6e-05"},
    {"glued",
     "2021-05-01 10:10:10 | INFO | fairseq.trainer | NOTE: gradient overflow "
     "detected, ignoring gradient, setting loss scale to: 64.02021-05-01 "
     "10:10:11 | INFO | fairseq.trainer | NOTE: gradient overflow detected, "
     "ignoring gradient, setting loss scale to: 32.0",
     "overflow loss_scale=64\noverflow loss_scale=32"},
    {"JSON, NaN",
     "2020-08-01 10:10:10 | INFO | train_inner | {\"epoch\": 3, \"update\": "
     "2.05, \"loss\": \"nan\", \"nll_loss\": \"nan\", \"ppl\": \"nan\", "
     "\"num_updates\": \"1200\", \"lr\": \"0.0005\", \"gnorm\": \"0.75\", "
     "\"clip\": \"0\", \"loss_scale\": \"0\", \"wall\": \"812\"}\n"
     "2020-08-01 10:20:10 | INFO | train | {\"epoch\": 3, \"train_loss\": "
     "\"7.1\", \"train_num_updates\": \"1300\"}",
     "step=1200 loss=nan loss_scale<=0.5 grad_norm=0.75 "
     "learning_rate=0.0005"},
    {"gave up",
     "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is "
     "probably exploding.",
     "stopped: Minimum loss scale reached (0.0001). Your loss is probably "
     "exploding."},
    {"torn",
     "2020-08-01 10:10:10 | INFO | train_inner | {\"epoch\": 3, \"update\": "
     "2.05, \"loss\": \"7.1\", \"num_upd\n"
     "| epoch 002:   1000 / 1500 loss=4.6\n"
     "| WARNING: overflow detected, setting loss sc",
     ""},
};

}  // namespace

const SampleTable kFairseqSamples = {"fairseq", kLines, "metaseq"};

}  // namespace nanwatch
