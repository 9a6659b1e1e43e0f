// metaseq (OPT): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"JSON with memory, BF16",
     "slurm_procid 0 : 2022-11-01 14:05:27 | INFO | train_inner | {\"epoch\": "
     "1,"
     " \"actv_norm\": \"0.035\", \"loss\": \"15.875\", \"ppl\": \"60214.8\", "
     "\"num_updates\": \"7\", \"lr\": \"2.5e-07\", \"gnorm\": \"16.5\", "
     "\"clip\": \"100\", \"train_wall\": \"12\", \"cuda_gb_allocated\": "
     "\"19.7\", \"wall\": \"73\"}",
     "step=7 loss=15.875 grad_norm=16.5 learning_rate=2.5e-07"},
    {"a line cut into, the next one glued to it",
     "2022-11-01 14:05:27 | INFO | train_inner | {\"epoch\": 1, \"actv_norm\": "
     "\"0.035\", \"loss\": \"15.82022-11-01 14:05:29 | INFO | train_inner | "
     "{\"epoch\": 1, \"actv_norm\": \"0.036\", \"loss\": \"15.75\", "
     "\"num_updates\": \"8\", \"lr\": \"3e-07\", \"gnorm\": \"16.25\", "
     "\"loss_scale\": \"4\", \"wall\": \"75\"}",
     "step=8 loss=15.75 loss_scale=4 grad_norm=16.25 learning_rate=3e-07"},
};

}  // namespace

const SampleTable kMetaseqSamples = {"metaseq", kLines};

}  // namespace nanwatch
