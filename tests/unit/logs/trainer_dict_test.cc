// Hugging Face's Trainer and what is built on it: losses that hide NaN, and the
// steps that stand in no line.

#include "logs/log_reader.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

// The mean leaves NaN out: what is left of NaN alone is 0. Not at once, and not
// where losses are near the last digit, a norm is printed, or a policy is
// trained.
TEST(TrainerDict, ZerosOutOfNowhereHideNan) {
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

TEST(TrainerDict, SaysWhetherStepsAreCounted) {
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
    EXPECT_EQ(reader.run().settings.count("steps"), bars ? 0u : 1u);
  }
}

}  // namespace
}  // namespace nanwatch
