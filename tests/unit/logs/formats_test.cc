// Every log format against its table of sample lines, and what concerns several
// of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "logs/format.h"
#include "logs/log_reader.h"
#include "tests/unit/logs/samples/samples.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {

void PrintTo(const SampleTable* table, std::ostream* out) {
  *out << table->format;
}

namespace {

class SampleTables : public testing::TestWithParam<const SampleTable*> {};

TEST_P(SampleTables, SayWhatTheLinesSay) {
  const SampleTable& table = *GetParam();
  for (const SampleLines& sample : table.lines) {
    std::string facts(sample.facts);
    if (!facts.empty()) facts += "\n";
    EXPECT_EQ(ToldFacts(table.format, sample.lines), facts) << sample.what;
    if (!facts.empty()) {
      EXPECT_EQ(RecognisedIn(sample.lines), table.format) << sample.what;
    }
  }
}

TEST_P(SampleTables, AreNoOtherPrograms) {
  const SampleTable& table = *GetParam();
  for (const SampleLines& sample : table.lines) {
    const std::string others = OthersThatRead(table.format, sample.lines);
    EXPECT_TRUE(others.empty() || others == table.also)
        << sample.what << ": " << others;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SampleTables,
                         testing::ValuesIn(AllSampleTables()),
                         [](const auto& info) {
                           return std::string(info.param->format);
                         });

TEST(LogFormats, HaveATableOfSampleLinesEach) {
  for (const LogFormat* format : AllLogFormats()) {
    if (format->name == "tensorboard") continue;  // has no lines
    const auto tables = AllSampleTables();
    const auto found = std::find_if(
        tables.begin(), tables.end(),
        [format](auto* table) { return table->format == format->name; });
    ASSERT_NE(found, tables.end()) << format->name;
    EXPECT_FALSE((*found)->lines.empty()) << format->name;
  }
}

TEST(LogFormats, ColoursAreNoPartOfALine) {
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

// One program's message is not another's.
TEST(LogFormats, LeaveEachOthersLinesAlone) {
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
TEST(LogFormats, ReadTheSettings) {
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

TEST(LogFormats, ReadMegatronsDumpOfArguments) {
  EXPECT_EQ(
      ToldFacts("megatron",
                "  bf16 ............................................ False\n"
                "  fp16 ............................................ True\n"
                "  clip_grad ....................................... 1.0\n"
                "  hysteresis ...................................... 2\n"
                "  initial_loss_scale .............................. 65536\n"
                "  loss_scale ...................................... None\n"
                "  loss_scale ...................................... 128.0\n"
                "  loss_scale_window ............................... 500.0\n"
                "  min_loss_scale .................................. 1.0\n"
                "  padded_vocab_size ............................... 50304\n"
                "  rampup_batch_size ............................... None"),
      "precision=fp16\nclip_norm=1\nhysteresis=2\ninit_scale=65536\n"
      "fixed_scale=128\ngrowth_interval=500\nmin_scale=1\nvocabulary=50304\n");
}

// A static scale on Ascend: overflows that reduce nothing are told once it is
// clear that no line on the scale follows.
TEST(LogFormats, AStaticScaleOnAscendIsToldInTheEnd) {
  std::string lines;
  for (int i = 0; i < 32; ++i) lines += "Gradient overflow. Skipping step\n";
  EXPECT_EQ(ToldFacts("torch_npu", lines), "");
  lines += "Gradient overflow. Skipping step\n";
  EXPECT_EQ(ToldFacts("torch_npu", lines), "overflow\n");
}

TEST(LogFormats, ScalersStandBesideTheProgram) {
  EXPECT_EQ(RecognisedIn("loss_scale:[65536.0] \n"
                         "I0521 19:45:05.7 28 basic_session_run_hooks.py:260] "
                         "global_step = 1300, total_loss = 0.96 (81.6 sec)"),
            "tf_estimator+tf_npu");
  EXPECT_EQ(RecognisedIn("Found inf or nan, current scale is: 4.0, decrease "
                         "to: 4.0*0.5\n[    INFO] - loss: 3.2, learning_rate: "
                         "2e-05, global_step: 10, epoch: 0.02"),
            "paddlenlp+paddle_amp");
}

}  // namespace
}  // namespace nanwatch
