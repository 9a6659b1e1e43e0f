// Hugging Face's Trainer, TRL, Axolotl and LLaMA-Factory: sample lines in their
// texture, and the steps that stand in no line.

#include "logs/log_reader.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"steps from the bars around", "hf_trainer",
     "  0%|          | 0/200 [00:00<?, ?it/s]\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     "{'loss': 2.3125, 'grad_norm': 1.25, 'learning_rate': 2e-05, 'epoch': "
     "0.05}\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     " 10%|#         | 20/200 [00:20<03:00,  1.00s/it]{'loss': 2.25, "
     "'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
     "step=10 loss=2.3125 grad_norm=1.25 learning_rate=2e-05\n"
     "step=20 loss=2.25 grad_norm=1.5 learning_rate=1e-05"},
    {"bars of data and of an evaluation are others", "hf_trainer",
     "Map: 100%|##########| 5000/5000 [00:01<00:00, 4000 examples/s]\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     "{'loss': 2.5, 'learning_rate': 2e-05, 'epoch': 0.05}\n"
     " 15%|#5        | 30/200 [00:20<03:00,  1.00s/it]\n"
     "100%|##########| 50/50 [00:20<03:00,  1.00s/it]\n"
     "{'eval_loss': 2.4, 'eval_runtime': 3.1, 'epoch': 0.1}\n"
     "{'loss': 2.25, 'learning_rate': 1e-05, 'epoch': 0.15}\n"
     "{'train_runtime': 99.1, 'train_loss': 2.4, 'epoch': 1.0}",
     "step=10 loss=2.5 learning_rate=2e-05\n"
     "step=30 loss=2.25 learning_rate=1e-05"},
    {"a bar that is one behind", "hf_trainer",
     "  2%|2         | 49/2013 [01:26<2:09:07,  3.94s/it][2022-01-08 01:40:55] "
     "[INFO] [timer.py:181:stop] 0/50\n"
     "{'loss': 8.0, 'learning_rate': 3e-05, 'epoch': 0.11}\n"
     "  2%|2         | 51/2013 [01:26<2:09:07,  3.94s/it][2022-01-08 01:40:55] "
     "[INFO] [timer.py:181:stop] 0/52\n"
     "  5%|5         | 99/2013 [01:26<2:09:07,  3.94s/it]{'loss': 7.5, "
     "'learning_rate': 3e-05, 'epoch': 0.22}",
     "step=50 loss=8 learning_rate=3e-05\n"
     "step=100 loss=7.5 learning_rate=3e-05"},
    {"no bars: counted; strings; a checkpoint's restart", "hf_trainer",
     "{'loss': '5.072', 'grad_norm': '20.19', 'learning_rate': '0', 'epoch': "
     "'0.25'}\n"
     "{'loss': '4.5', 'grad_norm': '392', 'learning_rate': '0.0002', 'epoch': "
     "'0.5'}\n"
     "{'loss': '4.25', 'grad_norm': '9', 'learning_rate': '0.0002', 'epoch': "
     "'0.25'}",
     "step=1 loss=5.072 grad_norm=20.19 learning_rate=0\n"
     "step=2 loss=4.5 grad_norm=392 learning_rate=0.0002\n"
     "step=1 loss=4.25 grad_norm=9 learning_rate=0.0002"},
    {"a NaN that was left out of the mean", "hf_trainer",
     "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 2e-05, 'epoch': 0.1}\n"
     "{'loss': 0.0, 'grad_norm': 0.5, 'learning_rate': 2e-05, 'epoch': 0.2}",
     "step=1 loss=nan grad_norm=nan learning_rate=2e-05\n"
     "step=2 loss=0 grad_norm=0.5 learning_rate=2e-05"},
    {"ms-swift says the step", "hf_trainer",
     "Train:   2%|2| 1/60 [00:55<54:36, 55.53s/it]{'loss': '0.6647', "
     "'grad_norm': '0.8371', 'learning_rate': '3.333e-05', 'token_acc': "
     "'0.8539', 'epoch': '0.08421', 'global_step/max_steps': '1/60'}",
     "step=1 loss=0.6647 grad_norm=0.8371 learning_rate=3.333e-05"},
    {"torn, nested, of other programs", "hf_trainer",
     "{'loss': 2.3125, 'grad_norm': 1.25, 'learning_rate': 2e-\n"
     "{'loss': 2.3125}\n"
     "Arguments: {'loss': 'mse', 'epoch': 3}\n"
     "[rank0]: {'loss': 2.25, 'betas': (0.9, 0.999), 'more': {'epoch': 1}, "
     "'learning_rate': 2e-05}",
     "step=1 loss=2.25 learning_rate=2e-05"},
    {"DPO", "trl",
     "{'loss': 0.6931, 'grad_norm': 5.802131652832031, 'learning_rate': 0.0, "
     "'rewards/chosen': 0.0, 'rewards/rejected': -0.5, 'rewards/accuracies': "
     "0.0, 'logps/chosen': -268.03912353515625, 'epoch': 0.01}",
     "step=1 loss=0.6931 grad_norm=5.802131653 learning_rate=0"},
    {"GRPO below zero, PPO", "trl",
     "{'loss': -0.0125, 'grad_norm': 0.25, 'learning_rate': 1e-06, "
     "'num_tokens': 10813.0, 'completions/mean_length': 53.35, 'reward': 0.25, "
     "'reward_std': 0.5, 'kl': 0.0001, 'epoch': 0.0}\n"
     "{'eps': 1, 'objective/kl': 0.5, 'objective/entropy': 40.1, "
     "'loss/policy_avg': -0.03125, 'loss/value_avg': 0.5, 'lr': 3e-06, "
     "'episode': 512, 'epoch': 0.01}",
     "step=1 loss=-0.0125 grad_norm=0.25 learning_rate=1e-06\n"
     "step=2 loss=-0.03125 learning_rate=3e-06"},
    {"its logger's name, and its keys", "axolotl",
     "[2024-05-01 10:00:00,123] [INFO] [axolotl.train.train:85] [PID:1] "
     "[RANK:0] Starting trainer...\n"
     "{'loss': 1.3125, 'grad_norm': 0.875, 'learning_rate': 2e-05, "
     "'memory/max_mem_active(gib)': 14.56, 'epoch': 0.01}\n"
     "{'loss': 1.25, 'learning_rate': 2e-05, 'epoch': 0.02}",
     "step=1 loss=1.3125 grad_norm=0.875 learning_rate=2e-05\n"
     "step=2 loss=1.25 learning_rate=2e-05"},
    {"trainer_log.jsonl", "llama_factory",
     R"({"current_steps": 10, "total_steps": 93, "loss": 4.125, "lr": 2e-06,)"
     R"( "epoch": 0.33, "percentage": 10.75, "elapsed_time": "0:04:02", )"
     R"("remaining_time": "0:33:29"})"
     "\n"
     R"({"current_steps": 15, "total_steps": 93, "eval_loss": 3, "epoch": 1})"
     "\n"
     R"({"current_steps": 20, "total_steps": 93, "loss": NaN, "learning_rate":)"
     R"( 5e-05, "epoch": 0.66, "percentage": 21.5})"
     "\n"
     R"({"current_steps": 30, "total_steps": 93, "loss": 4.1)",
     "step=10 loss=4.125 learning_rate=2e-06\n"
     "step=20 loss=nan learning_rate=5e-05"},
    {"the console says it twice", "llama_factory",
     "[INFO|2025-01-02 10:00:00] llamafactory.hparams.parser:401 >> Process "
     "rank: 0, world size: 8, device: npu:0\n"
     "{'loss': 1.25, 'grad_norm': 0.5, 'learning_rate': 4.9e-05, 'epoch': "
     "0.03}\n"
     "[INFO|2025-01-02 10:00:09] llamafactory.train.callbacks:143 >> {'loss': "
     "1.25, 'learning_rate': 4.9e-05, 'epoch': 0.03, 'throughput': 13061.0}\n"
     "{'loss': 1.125, 'grad_norm': 0.5, 'learning_rate': 4.8e-05, 'epoch': "
     "0.06}",
     "step=1 loss=1.25 grad_norm=0.5 learning_rate=4.9e-05\n"
     "step=2 loss=1.125 grad_norm=0.5 learning_rate=4.8e-05"},
};

TEST(TrainerDictFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    // The Trainer's own format reads what is built on it, too.
    const std::string others = OthersThatRead(sample.format, sample.lines);
    EXPECT_TRUE(others.empty() || others == "hf_trainer")
        << sample.what << ": " << others;
  }
}

// The mean leaves NaN out: what is left of NaN alone is 0. Not at once, and not
// where losses are near the last digit, a norm is printed, or a policy is
// trained.
TEST(TrainerDictFormats, ZerosOutOfNowhereHideNan) {
  const auto told = [](std::string_view format, std::string_view before,
                       std::string_view rest) {
    std::string lines;
    for (int i = 0; i < 4; ++i) {
      const std::string_view loss = i == 0 ? before : "0.0";
      lines.append("{'loss': ").append(loss).append(rest);
      lines.append(", 'learning_rate': 1e-05, 'epoch': 0.5}\n");
    }
    const std::string facts = ToldFacts(format, lines);
    return facts.substr(facts.rfind("step="), facts.size());
  };
  EXPECT_EQ(told("hf_trainer", "2.0095", ""),
            "step=4 loss=nan learning_rate=1e-05\n");
  EXPECT_EQ(told("hf_trainer", "0.0003", ""),
            "step=4 loss=0 learning_rate=1e-05\n");
  EXPECT_EQ(told("hf_trainer", "2.0095", ", 'grad_norm': 0.5"),
            "step=4 loss=0 grad_norm=0.5 learning_rate=1e-05\n");
  EXPECT_EQ(told("trl", "2.0095", ", 'reward': 0.5"),
            "step=4 loss=0 learning_rate=1e-05\n");
  EXPECT_EQ(ToldFacts("hf_trainer",
                      "{'loss': 2.5, 'epoch': 0.1}\n{'loss': 0.0, 'epoch': "
                      "0.1}\n{'loss': 0.0, 'epoch': 0.1}\n{'loss': 2.25, "
                      "'epoch': 0.1}\n{'loss': 0.0, 'epoch': 0.1}"),
            "step=1 loss=2.5\nstep=2 loss=0\nstep=3 loss=0\n"
            "step=4 loss=2.25\nstep=5 loss=0\n");
}

TEST(TrainerDictFormats, SaysWhetherStepsAreCounted) {
  for (const bool bars : {false, true}) {
    LogReader reader(nullptr, {}, [](const LogRecord&) {});
    for (int step = 10; step <= 100; step += 10) {
      const std::string bar = " 12%|#2        | " + std::to_string(step) +
                              "/1000 [00:10<01:15,  1.17it/s]";
      if (bars) reader.ReadLine(bar);
      reader.ReadLine(
          "{'loss': 2.5, 'grad_norm': 1.5, 'learning_rate': 2e-05, 'epoch': " +
          std::to_string(0.01 * step) + "}");
    }
    reader.Finish();
    EXPECT_EQ(reader.recogniser().Emitter(), "hf_trainer");
    EXPECT_EQ(reader.counts_steps(), !bars);
  }
}

}  // namespace
}  // namespace nanwatch
