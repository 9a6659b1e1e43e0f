// DeepSpeed (alone, or beside the program that uses it): sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"hysteresis: an overflow, no change",
     "[2023-05-02 07:11:52,554] [INFO] [loss_scaler.py:188:update_scale] "
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, "
     "but hysteresis is 2. Reducing hysteresis to 1",
     "overflow before=4096 loss_scale=4096 rank=0"},
    {"reduced",
     "[2023-05-02 07:11:53,259] [INFO] [loss_scaler.py:181:update_scale] "
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, "
     "reducing to 2048",
     "overflow before=4096 loss_scale=2048 rank=0"},
    {"cut to integers, below 1",
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 0, "
     "reducing to 0",
     "overflow loss_scale<=0.5 rank=0"},
    {"bfloat16 has no scale",
     "[INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 "
     "Skipping step.",
     "overflow rank=0"},
    {"deepscale behind a progress bar",
     "  2%|1         | 33/2013 [00:31<43:39,  1.32s/it][2022-01-08 "
     "01:39:55,691]"
     " [INFO] [stage_1_and_2.py:1631:step] [deepscale] OVERFLOW! Rank 3 "
     "Skipping step. Attempted loss scale: 4.0, reducing to 2.0",
     "overflow before=4 loss_scale=2 rank=3"},
    {"ZeRO 3's own words",
     "[deepspeed] fp16 dynamic loss scale overflow! Rank 1 Skipping step. "
     "Attempted loss scale: 131072.0, reducing to 65536.0",
     "overflow before=131072 loss_scale=65536 rank=1"},
    {"torn, of another rank: may be a copy",
     "[deepscale] OVERFLOW! Rank 3 Skipping step. Attempted loss scale: 131072."
     "0, reducing to 655",
     ""},
    {"torn, of the first rank",
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, "
     "reducing to 327",
     "overflow before=65536 rank=0"},
    {"fused: rank 0's word, after all ranks' on the change",
     "[INFO] [fused_optimizer.py:362:_update_scale]\n"
     "Grad overflow on iteration 7\n"
     "[INFO] [fused_optimizer.py:363:_update_scale] Reducing dynamic loss "
     "scale "
     "from 65536 to 32768.0\n"
     "[INFO] [logging.py:96:log_dist] [Rank 0] Overflow detected. Skipping step"
     ". Attempted loss scale: 65536, reducing to 32768.0\n"
     "[INFO] [fused_optimizer.py:363:_update_scale] Reducing dynamic loss "
     "scale "
     "from 65536 to 32768.0\n"
     "[INFO] [fused_optimizer.py:371:_update_scale] Increasing dynamic loss "
     "scale from 32768.0 to 65536.0",
     "overflow before=65536 loss_scale=32768\n"
     "overflow before=65536 loss_scale=32768\n"
     "scale before=32768 loss_scale=65536"},
    {"counter",
     "[2023-05-02 07:11:59,142] [INFO] [logging.py:96:log_dist] [Rank 0] "
     "step=10, skipped=6, lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95)]",
     "step=10 learning_rate=9.65e-06 skipped_total=6"},
    {"counter before the first step",
     "[Rank 0] step=0, skipped=0, lr=[5e-05], mom=[[0.9, 0.999]]", ""},
    {"counter torn", "[Rank 0] step=120, skipped=13", ""},
    {"someone else's counter", "files: step=3, skipped=4 of 9", ""},
    {"the end",
     "Exception: Current loss scale already at minimum - cannot decrease scale "
     "anymore. Exiting run.",
     "stopped: Current loss scale already at minimum - cannot decrease scale "
     "anymore"},
    {"the end of two ranks: one overflow at the floor",
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 2, "
     "reducing to 1\n"
     "Exception: Current loss scale already at minimum - cannot decrease scale "
     "anymore. Exiting run.\n"
     "Exception: Current loss scale already at minimum - cannot decrease scale "
     "anymore. Exiting run.",
     "overflow before=2 loss_scale=1 rank=0\n"
     "overflow before=1 loss_scale=1\n"
     "stopped: Current loss scale already at minimum - cannot decrease scale "
     "anymore\n"
     "stopped: Current loss scale already at minimum - cannot decrease scale "
     "anymore"},
};

}  // namespace

const SampleTable kDeepSpeedSamples = {"deepspeed", kLines};

}  // namespace nanwatch
