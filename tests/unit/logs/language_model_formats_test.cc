// Trainers of language models with lines of their own: torchtitan, nanoGPT and
// what grew out of it, LitGPT, verl, llm.c. Sample lines in their texture.

#include "logs/log_reader.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"behind torchrun's rank; an evaluation", "torchtitan",
     "[rank3]:[titan] 2024-10-01 10:00:00,123 - root - INFO - step: 10  loss: "
     " 7.12500  grad_norm:  1.2500  memory: 36.22GiB(45.80%)  tps: 6,271  "
     "tflops: 151.10  mfu: 38.10%\n"
     "[titan] 2024-10-01 10:00:00,123 - root - INFO - validate step: 10  loss: "
     " 7.01000  memory: 36.22GiB(45.80%)  tps: 6,271\n"
     "2024-10-01 10:00:00,123 - root - INFO - step:  1  loss: nan  memory: "
     "36.22GiB(45.80%)  wps: 1,271  mfu: 38.10%",
     "step=10 loss=7.125 grad_norm=1.25 rank=3\nstep=1 loss=nan"},
    {"torn, glued", "torchtitan",
     "step: 10  loss:  7.125\n"
     "step: 10  loss:  7.1250  grad_nstep: 20  loss:  6.5000  grad_norm: inf  "
     "memory: 36.22GiB(45.80%)  tps: 6,271",
     "step=20 loss=6.5 grad_norm=inf"},
    {"an iteration; an evaluation", "nanogpt",
     "step 0: train loss 10.9, val loss 10.8\n"
     "iter 0: loss 10.9375, time 14021.20ms, mfu -100.00%\n"
     "iter 10: loss nan, time 135.20ms, mfu 30.12%",
     "step=0 loss=10.9375\nstep=10 loss=nan"},
    {"its offspring", "nanogpt",
     "step    10 | loss: 9.125000 | lr 1.0000e-04 | norm: 1.2500 | dt: "
     "93.10ms | tok/sec: 5631288.10\n"
     "step:20/5100 train_loss:4.5000 train_time:12345ms step_avg:137.20ms\n"
     "step:25/5100 val_loss:4.4000 train_time:12345ms step_avg:137.20ms",
     "step=10 loss=9.125 grad_norm=1.25 learning_rate=0.0001\n"
     "step=20 loss=4.5"},
    {"torn", "nanogpt",
     "iter 10: loss 2.12\nstep    10 | loss: 9.1\nstep:20/5100 train_loss:4.5",
     ""},
    {"the first line of a step", "litgpt",
     "Epoch 1 | iter 8 step 1 | loss train: 2.125, val: n/a | iter time: "
     "177.84 ms (step) remaining time: 1:02:03\n"
     "Epoch 1 | iter 9 step 1 | loss train: 2.130, val: n/a | iter time: 98 "
     "ms\n"
     "Epoch 1 | iter 16 step 2 | loss train: nan, val: 2.100 | iter time: 98 "
     "ms\n"
     "iter 24 step 3: loss 2.0000, iter time: 123.45ms (optimizer.step)",
     "step=1 loss=2.125\nstep=2 loss=nan\nstep=3 loss=2"},
    {"torn", "litgpt", "Epoch 1 | iter 8 step 1 | loss train: 2.1", ""},
    {"losses below zero", "verl",
     "(TaskRunner pid=4711) step:12 - actor/entropy:0.17 - actor/kl_loss:"
     "2.1e-05 - actor/pg_loss:-7.5e-05 - actor/grad_norm:0.625 - actor/lr:"
     "1e-06 - critic/score/mean:0.93 - training/global_step:12 - timing_s/"
     "step:225.1\n"
     "step:13 - actor/pg_loss:np.float64(0.5) - actor/grad_norm:nan - perf/"
     "mfu:0.4\n"
     "step:13 - val-core/gsm8k/acc/mean@1:0.4\n"
     "step:14 - train/loss:0.5 - train/lr(1e-3):0.01 - train/time(s):1.1",
     "step=12 loss=-7.5e-05 grad_norm=0.625 learning_rate=1e-06\n"
     "step=13 loss=0.5 grad_norm=nan\n"
     "step=14 loss=0.5 learning_rate=1e-05"},
    {"torn", "verl", "step:12 - actor/pg_loss:-7.5", ""},
    {"two models' losses", "deepspeed_chat",
     "epoch: 0|step: 8|ppo_ep: 1|act_loss: -0.5|cri_loss: 0.25|unsuper_loss: "
     "0.0\n"
     "Epoch: 0 | Step: 9 | PPO Epoch: 1 | Actor Loss: 0.125 | Critic Loss: nan "
     "| Unsupervised Loss: 0.0\n"
     "Epoch: 1 | Step: 0 | Total Steps: 10 | PPO Epoch: 2 | Actor Loss: 0.125 "
     "| Critic Loss: 2e-05 | Unsupervised Loss: 0.0 | Advantage: 0.5\n"
     "|E2E latency=2.87s |Gather latency=0.00s (0.00%) |Generate time=1.76s "
     "(61.42%) |Training time=0.95s (32.99%) |AvgSamplesPerSec=1.06",
     "step=9 loss=0.25 scaler=1\nstep=9 loss=-0.5 scaler=0\n"
     "step=10 loss=nan scaler=1\nstep=10 loss=0.125 scaler=0\n"
     "step=11 loss=2e-05 scaler=1\nstep=11 loss=0.125 scaler=0"},
    {"a step in two batches; torn, glued", "deepspeed_chat",
     "[INFO] [config.py:983:print]   gradient_accumulation_steps .. 2\n"
     "epoch: 0|step: 0|ppo_ep: 1|act_loss: 1.5|cri_loss: 2.5|unsuper_loss: 0\n"
     "epoch: 0|step: 1|ppo_ep: 1|act_loss: 2.5|cri_loss: 3.5|unsuper_loss: 0\n"
     "epoch: 0|step: 3|ppo_ep: 1|act_loss: 2.5|cri_loss: 3.\n"
     "epoch: 0|step: 5|ppo_ep: 1|act_loss: epoch: 0|step: 7|ppo_ep: 1|act_loss:"
     " 0.5|cri_loss: 0.75|unsuper_loss: 0",
     "step=1 loss=3.5 scaler=1\nstep=1 loss=2.5 scaler=0\n"
     "step=4 loss=0.75 scaler=1\nstep=4 loss=0.5 scaler=0"},
    {"z-scores in brackets", "llm_c",
     "val loss 11.006021\n"
     "step    1/19560 | loss 11.125000 (+nanz)| norm 15.2500 (+nanz)| lr "
     "8.57e-07 | 2517.44 ms | 39.9% bf16 MFU | 208262 tok/s\n"
     "step  200/19560 | loss 6.500000 (-1.21z)| norm 1.2500 (+0.10z)| lr "
     "1.71e-04 | 2507.23 ms | 40.1% bf16 MFU | 209110 tok/s",
     "step=1 loss=11.125 grad_norm=15.25 learning_rate=8.57e-07\n"
     "step=200 loss=6.5 grad_norm=1.25 learning_rate=0.000171"},
    {"torn, glued", "llm_c",
     "step    1/19560 | loss 11.125000 (+nstep    2/19560 | loss 10.500000 "
     "(+nanz)| norm 15.25",
     "step=2 loss=10.5"},
};

TEST(LanguageModelFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

TEST(LanguageModelFormats, ColoursAreNoPartOfALine) {
  std::string steps;
  LogReader reader(nullptr, {}, [&steps](const LogRecord& record) {
    steps.append(std::to_string(record.step.step)).append(" ");
  });
  for (int step = 1; step <= 3; ++step) {
    reader.ReadLine(
        std::string("[titan] 2024-10-01 10:00:00,123 - root - INFO - \x1b[31m"
                    "step:  ")
            .append(std::to_string(step))
            .append("  \x1b[32mloss:  7.1250  \x1b[38;5;180mgrad_norm:  1.25  "
                    "\x1b[36mmemory: 36.22GiB(45.80%)  \x1b[34mtps: 6,271  "
                    "\x1b[35mmfu: 38.10%\x1b[39m"));
  }
  reader.Finish();
  EXPECT_EQ(steps, "1 2 3 ");
  EXPECT_EQ(reader.recogniser().Emitter(), "torchtitan");
}

}  // namespace
}  // namespace nanwatch
