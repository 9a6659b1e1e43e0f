// Every log format against its table of sample lines, and what concerns several
// of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

#include "logs/format.h"
#include "logs/log_reader.h"
#include "logs/recogniser.h"
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
      const bool unnamed = FindLogFormat(table.format)->unnamed;
      EXPECT_EQ(RecognisedIn(sample.lines), unnamed ? "" : table.format)
          << sample.what;
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

// Each place of a pattern is looked for once: a reader that tries them all
// against each other never ends here.
TEST(LinePatterns, ReadALongTensor) {
  std::string line =
      "epoch: 1 step: 21, outputs are (Tensor(shape=[4000], dtype=Float32, "
      "value= [";
  for (int i = 0; i < 4000; ++i) line += " 1.5000000e+00,";
  line += "]), Tensor(shape=[4000], dtype=Bool, value= [";
  for (int i = 0; i < 4000; ++i) line += " False,";
  EXPECT_EQ(ToldFacts("mindspore", line), "step=21 loss=1.5\n");
}

// Facts of lines each of which has `before` in front of it, as the reader of a
// whole log finds them.
std::string FactsBehind(std::string_view before, std::string_view format,
                        std::string_view lines) {
  std::string facts;
  Recogniser recogniser(FindLogFormat(format), {},
                        [&facts, format](const LogFact& fact, uint64_t) {
                          const bool beside =
                              (fact.kind == LogFact::Kind::kEvaluated ||
                               fact.kind == LogFact::Kind::kAccuracy) &&
                              format == "key_value";
                          if (beside) return;  // of another format
                          LogFact told = fact;
                          if (told.rank == 0) told.rank.reset();  // mpirun's
                          facts.append(FactText(told)).append("\n");
                        });
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    recogniser.ReadLine(std::string(before).append(line));
  }
  recogniser.Finish();
  return facts;
}

void ExpectTheSameBehind(std::string_view before, const SampleTable& table) {
  for (const SampleLines& sample : table.lines) {
    EXPECT_EQ(FactsBehind(before, table.format, sample.lines),
              FactsBehind("", table.format, sample.lines))
        << sample.what << " behind " << before;
  }
}

bool IsOneOf(std::string_view name,
             std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What those who start programs, or keep what they print, put before each line.
TEST_P(SampleTables, SayItBehindWhatALauncherPutsBeforeIt) {
  const SampleTable& table = *GetParam();
  // Files, in which nobody puts anything.
  if (IsOneOf(table.format, {"csv", "event_table", "wandb_history"})) return;
  for (const std::string_view before : {
           "[default0]:",                      // torchrun --tee
           "[1,0]<stdout>:",                   // mpirun --tag-output
           "[1,0]<stderr>: ",                  //
           "(pid=4242, ip=10.0.0.7) ",         // Ray
           "(TrainWorker pid=4242) ",          //
           "2024-03-01T12:01:07.123456789Z ",  // kubectl logs --timestamps
           "2024-03-01T12:01:07.123456789Z stdout F ",  // a container's log
           "Mar 01 12:01:07 ",                          // ts
           "Mar  1 12:01:07 node7 python3[4242]: ",     // journalctl
           "train-0  | ",                               // docker compose
           "2024-03-01T12:01:07.123456789Z (TrainWorker pid=4242) ",
       }) {
    ExpectTheSameBehind(before, table);
  }
}

// What a program may print itself is left to the formats. Some tell by where a
// line begins: objects of JSON are then read as names and numbers.
TEST_P(SampleTables, SayItBehindWhatMayBeALaunchersNumberOrName) {
  const SampleTable& table = *GetParam();
  if (IsOneOf(table.format,
              {"csv", "event_table", "wandb_history", "json_lines", "mmcv",
               "mmengine", "ultralytics", "gnmt", "key_value", "alike_lines",
               "last_words"})) {
    return;
  }
  for (const std::string_view before : {
           "0: ",                                           // srun --label
           " 12: ",                                         //
           "worker-3: ",                                    // pdsh, deepspeed
           "10.0.0.7: ",                                    //
           "[2024-03-01 12:01:07,123][__main__][INFO] - ",  // hydra
       }) {
    ExpectTheSameBehind(before, table);
  }
}

// In a whole log a line that comes again and again is known by its words: what
// it says is what it would say alone.
TEST(LogFormats, LinesThatComeAgainSayTheSame) {
  const auto tables = AllSampleTables();
  const auto table = std::find_if(tables.begin(), tables.end(), [](auto* each) {
    return each->format == "key_value";
  });
  ASSERT_NE(table, tables.end());
  for (const SampleLines& sample : (*table)->lines) {
    EXPECT_EQ(FactsBehind("", "key_value", sample.lines),
              ToldFacts("key_value", sample.lines))
        << sample.what;
  }
  constexpr std::string_view kEnds[] = {
      "1.25it/s, v_num=0, loss=2.5]",   "10.5it/s, v_num=0, loss=-2.5]",
      "9.25s/it, v_num=0, loss=2.25]",  "9.25s/it, v_num=0, loss=nan]",
      "9.25s/it, v_num=0, loss=1e-05]", "9.25s/it, v_num=0, loss=7%]",
      "9.25s/it, v_num=1, loss=1,250]", "9.25s/it, v_num=1, loss=12]",
      "9.25s/it, val loss=3]",          "9.25s/it, v_num=1, loss=1.5, lr=0.1]",
  };
  std::string lines;
  for (int step = 1; step <= 300; ++step) {
    lines += std::to_string(step / 3) + "%|##  | " + std::to_string(step) +
             "/300 [1:02:03<9:08:07, ";
    lines += kEnds[step < 20 ? 0 : step * 7 / 5 % std::size(kEnds)];
    lines += "\n";
  }
  EXPECT_EQ(FactsBehind("", "key_value", lines), ToldFacts("key_value", lines));
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
            "fixed_loss_scale=0\nfixed_loss_scale=128\n");
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
      "loss_scale_window=500\nhysteresis=2\nmin_loss_scale=1\nprecision=fp16\n"
      "clip_norm=1\ninit_loss_scale=65536\nfixed_loss_scale=0\n");
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
      "precision=fp16\nclip_norm=1\nhysteresis=2\ninit_loss_scale=65536\n"
      "fixed_loss_scale=128\nloss_scale_window=500\nmin_loss_scale="
      "1\nvocabulary=50304\n");
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
