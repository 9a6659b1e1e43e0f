// Loss scalers of libraries (Apex, DeepSpeed, FP16_Optimizer, torch_npu,
// Colossal-AI): sample lines in their texture, and what they say.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    // Apex.
    {"two blanks, scaler named", "apex",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "32768.0",
     "overflow loss_scale=32768 scaler=0"},
    {"a copy's one blank, below 1", "apex",
     "Gradient overflow. Skipping step, loss scaler 2 reducing loss scale to "
     "6.103515625e-05",
     "overflow loss_scale=6.103515625e-05 scaler=2"},
    {"NVIDIA BERT's own, with its rank", "apex",
     "Rank 5 :: Gradient overflow.  Skipping step, reducing loss scale to "
     "1048576.0",
     "overflow loss_scale=1048576 rank=5"},
    {"static scale", "apex", "Gradient overflow, skipping step", "overflow"},
    {"three ranks glued", "apex",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "512.0Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale"
     " to 512.0Gradient overflow.  Skipping step, loss scaler 1 reducing loss "
     "scale to 64.0",
     "overflow loss_scale=512 scaler=0\n"
     "overflow loss_scale=512 scaler=0\n"
     "overflow loss_scale=64 scaler=1"},
    {"glued to a step line of its program", "apex",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "8192.0Epoch: [3][ 20/1000]",
     "overflow loss_scale=8192 scaler=0"},
    {"torn within the copy's number", "apex",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "16384.0\n"
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "1638\n"
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "81",
     "overflow loss_scale=16384 scaler=0"},
    {"torn before the number", "apex",
     "Gradient overflow.  Skipping step, loss sc", ""},
    // DeepSpeed.
    {"hysteresis: an overflow, no change", "deepspeed",
     "[2023-05-02 07:11:52,554] [INFO] [loss_scaler.py:188:update_scale] "
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, "
     "but hysteresis is 2. Reducing hysteresis to 1",
     "overflow before=4096 loss_scale=4096 rank=0"},
    {"reduced", "deepspeed",
     "[2023-05-02 07:11:53,259] [INFO] [loss_scaler.py:181:update_scale] "
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, "
     "reducing to 2048",
     "overflow before=4096 loss_scale=2048 rank=0"},
    {"cut to integers, below 1", "deepspeed",
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 0, "
     "reducing to 0",
     "overflow loss_scale<=0.5 rank=0"},
    {"bfloat16 has no scale", "deepspeed",
     "[INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 "
     "Skipping step.",
     "overflow rank=0"},
    {"deepscale behind a progress bar", "deepspeed",
     "  2%|1         | 33/2013 [00:31<43:39,  1.32s/it][2022-01-08 "
     "01:39:55,691]"
     " [INFO] [stage_1_and_2.py:1631:step] [deepscale] OVERFLOW! Rank 3 "
     "Skipping step. Attempted loss scale: 4.0, reducing to 2.0",
     "overflow before=4 loss_scale=2 rank=3"},
    {"ZeRO 3's own words", "deepspeed",
     "[deepspeed] fp16 dynamic loss scale overflow! Rank 1 Skipping step. "
     "Attempted loss scale: 131072.0, reducing to 65536.0",
     "overflow before=131072 loss_scale=65536 rank=1"},
    {"torn, of another rank: may be a copy", "deepspeed",
     "[deepscale] OVERFLOW! Rank 3 Skipping step. Attempted loss scale: 131072."
     "0, reducing to 655",
     ""},
    {"torn, of the first rank", "deepspeed",
     "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, "
     "reducing to 327",
     "overflow before=65536 rank=0"},
    {"fused: rank 0's word, after all ranks' on the change", "deepspeed",
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
    {"counter", "deepspeed",
     "[2023-05-02 07:11:59,142] [INFO] [logging.py:96:log_dist] [Rank 0] "
     "step=10, skipped=6, lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95)]",
     "step=10 learning_rate=9.65e-06 skipped_total=6"},
    {"counter before the first step", "deepspeed",
     "[Rank 0] step=0, skipped=0, lr=[5e-05], mom=[[0.9, 0.999]]", ""},
    {"counter torn", "deepspeed", "[Rank 0] step=120, skipped=13", ""},
    {"someone else's counter", "deepspeed", "files: step=3, skipped=4 of 9",
     ""},
    {"the end", "deepspeed",
     "Exception: Current loss scale already at minimum - cannot decrease scale "
     "anymore. Exiting run.",
     "stopped: Current loss scale already at minimum - cannot decrease scale "
     "anymore"},
    {"the end of two ranks: one overflow at the floor", "deepspeed",
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
    // FP16_Optimizer.
    {"attempted scale alone", "fp16_optimizer",
     "OVERFLOW! Skipping step. Attempted loss scale: 4294967296",
     "overflow before=4294967296"},
    {"both scales", "fp16_optimizer",
     "OVERFLOW! Skipping step. Attempted loss scale: 65536.0, reducing to "
     "32768.0",
     "overflow before=65536 loss_scale=32768"},
    {"two lines, on two ranks, one glued", "fp16_optimizer",
     "Grad overflow on iteration  12\n"
     "Using dynamic loss scale of  65536\n"
     "Grad overflow on iteration  12\n"
     "Using dynamic loss scale of  65536Grad overflow on iteration  13\n"
     "Grad overflow on iteration  13\n"
     "Using dynamic loss scale of  32768.0\n"
     "Using dynamic loss scale of  32768.0",
     "overflow step=12 before=65536\noverflow step=13 before=32768"},
    {"torn scale", "fp16_optimizer",
     "OVERFLOW! Skipping step. Attempted loss scale: 65536.0\n"
     "OVERFLOW! Skipping step. Attempted loss scale: 3276",
     "overflow before=65536"},
    // torch_npu.
    {"two lines", "torch_npu",
     "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to "
     "32768.0\nLoss scaler increasing loss scale to 65536.0",
     "overflow loss_scale=32768\nscale loss_scale=65536"},
    {"ranks glued", "torch_npu",
     "Gradient overflow. Skipping stepGradient overflow. Skipping step\n"
     "Loss scaler reducing loss scale to 0.0Loss scaler reducing loss scale to "
     "0.0",
     "overflow loss_scale=0\noverflow loss_scale=0"},
    {"torn", "torch_npu",
     "Loss scaler reducing loss scale to 16384.0\n"
     "Loss scaler reducing loss scale to 163\n"
     "Loss scaler reducing loss sca",
     "overflow loss_scale=16384"},
    // Colossal-AI.
    {"down and up", "colossalai",
     "[05/02/23 10:00:00] INFO     colossalai - colossalai - INFO: Overflow "
     "occurs, the loss scale is adjusted to 32768.0\n"
     "INFO     colossalai - colossalai - INFO: Found overflow. Skip step\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to "
     "65536.0",
     "overflow loss_scale=32768\nscale loss_scale=65536"},
    {"the optimizer's line alone", "colossalai",
     "colossalai - colossalai - INFO: Found overflow. Skip step", "overflow"},
    {"torn", "colossalai", "Overflow occurs, the loss scale is adjusted to",
     ""},
    {"cut before the point: the next scale, but for the first", "colossalai",
     "Overflow occurs, the loss scale is adjusted to 6553\n"
     "Overflow occurs, the loss scale is adjusted to 65536.0\n"
     "Overflow occurs, the loss scale is adjusted to 3276\n8.0\n"
     "Overflow occurs, the loss scale is adjusted to 327\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to 65",
     "overflow loss_scale=65536\noverflow loss_scale=32768\n"
     "scale loss_scale=65536"},
};

TEST(LossScalerFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) ExpectFacts(sample);
}

// One program's message is not another's.
TEST(LossScalerFormats, LeaveEachOthersLinesAlone) {
  constexpr std::string_view kApex =
      "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to "
      "32768.0";
  constexpr std::string_view kDeepSpeed =
      "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, "
      "reducing to 2048";
  constexpr std::string_view kFused =
      "Grad overflow on iteration 7\nReducing dynamic loss scale from 4 to 2.0";
  EXPECT_EQ(ToldFacts("torch_npu", kApex), "");
  EXPECT_EQ(ToldFacts("apex", "Gradient overflow. Skipping step"), "");
  EXPECT_EQ(ToldFacts("fp16_optimizer", kDeepSpeed), "");
  EXPECT_EQ(ToldFacts("fp16_optimizer", kFused), "");
  EXPECT_EQ(ToldFacts("deepspeed",
                      "OVERFLOW! Skipping step. Attempted loss scale: 4096"),
            "");
  EXPECT_EQ(ToldFacts("colossalai", "Overflow occurs in the buffer"), "");
}

// Settings alone are no step of the training.
TEST(LossScalerFormats, ReadTheSettings) {
  EXPECT_EQ(ToldFacts("apex",
                      "loss_scale             : dynamic\n"
                      "loss_scale             : 128.0"),
            "fixed_scale=0\nfixed_scale=128\n");
  EXPECT_EQ(
      ToldFacts(
          "deepspeed",
          "[2022-01-08 01:39:24,355] [INFO] [config.py:1062:print]   "
          "dynamic_loss_scale_args ...... {'init_scale': 65536, 'scale_window':"
          " 500, 'delayed_shift': 2, 'min_scale': 1}\n"
          "[config.py:1062:print]   fp16_enabled ................. True\n"
          "[config.py:1062:print]   bfloat16_enabled ............. False\n"
          "[config.py:1062:print]   gradient_clipping ............ 1.0\n"
          "[config.py:1062:print]   initial_dynamic_scale ........ 65536\n"
          "[config.py:1062:print]   loss_scale ................... 0"),
      "growth_interval=500\nhysteresis=2\nmin_scale=1\nprecision=fp16\n"
      "clip_norm=1\ninit_scale=65536\nfixed_scale=0\n");
}

// A static scale on Ascend: overflows that reduce nothing are told once it is
// clear that no line on the scale follows.
TEST(LossScalerFormats, AStaticScaleOnAscendIsToldInTheEnd) {
  std::string lines;
  for (int i = 0; i < 32; ++i) lines += "Gradient overflow. Skipping step\n";
  EXPECT_EQ(ToldFacts("torch_npu", lines), "");
  lines += "Gradient overflow. Skipping step\n";
  EXPECT_EQ(ToldFacts("torch_npu", lines), "overflow\n");
}

}  // namespace
}  // namespace nanwatch
