// LLaMA-Factory: its trainer_log.jsonl, and on the console the dicts of Hugging
// Face's Trainer, once printed and once through its logger.
//
//  {"current_steps": 10, "total_steps": 93, "loss": 4.169, "lr": 2.25e-06,
//  "epoch": 0.33, "percentage": 10.75, "elapsed_time": "0:04:02"}
//  [INFO|2025-01-02 10:00:00] llamafactory.train.callbacks:143 >> {'loss': 1.2,
//  'learning_rate': 4.9e-05, 'epoch': 0.03, 'throughput': 13061.0}

#include <string_view>

#include "logs/dict_scan.h"
#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"

namespace nanwatch {
namespace {

constexpr std::string_view kWords[] = {"llamafactory.", "llmtuner."};

void ReadJson(std::string_view text, size_t at, FactList* facts) {
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  DictScan dict(text);
  while (dict.Next()) {
    const std::string_view key = dict.key();
    if (key == "current_steps") {
      const std::optional<int64_t> step = dict.Count();
      if (step) fact.step = *step;
      continue;
    }
    const std::optional<double> value = dict.Number();
    if (!value) continue;
    if (key == "loss") fact.Set(StepField::kLoss, *value);
    if (key == "grad_norm") fact.Set(StepField::kGradNorm, *value);
    if (key == "lr" || key == "learning_rate") {
      fact.Set(StepField::kLearningRate, *value);
    }
  }
  // Without a loss: an evaluation.
  if (!dict.whole() || !fact.step || !fact.has(StepField::kLoss)) return;
  facts->push_back(fact);
}

class LlamaFactoryReader : public LineReader {
 public:
  LlamaFactoryReader() : dicts_({{}, kWords}) {}
  void Read(std::string_view line, FactList* facts) override {
    const size_t json = line.find("{\"current_steps\": ");
    if (json == std::string_view::npos) {
      dicts_.Read(line, facts);
    } else {
      ReadJson(line.substr(json), json, facts);
    }
  }

 private:
  TrainerDictReader dicts_;
};

constexpr std::string_view kMarks[] = {"{\"current_steps\": ", "'loss': ", "%|",
                                       "llamafactory.", "llmtuner."};

}  // namespace

const LogFormat kLlamaFactory = {
    .name = "llama_factory",
    .title = "LLaMA-Factory (trainer_log.jsonl, console)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<LlamaFactoryReader>,
};

}  // namespace nanwatch
