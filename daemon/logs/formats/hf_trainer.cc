// Hugging Face's Trainer: a Python dict a log step; the numbers are strings in
// newer versions. Neither loss scale nor step is in it. And its
// trainer_state.json, where a log step is an object of a line a number, in the
// order of their names, so that the step is the last.
//
//  {'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}
//   12%|#2        | 12/100 [00:10<01:15,  1.17it/s]
//       "loss": 2.31,
//       "step": 10
//
// And programs that are built on it.

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"
#include "logs/line_pattern.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr NamedField kState[] = {{"loss", StepField::kLoss},
                                 {"grad_norm", StepField::kGradNorm},
                                 {"learning_rate", StepField::kLearningRate}};

class HfTrainerReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (!ReadState(line, facts)) dicts_.Read(line, facts);
  }

 private:
  // A line that is one number of the state file, whole. False: it is none.
  bool ReadState(std::string_view line, FactList* facts) {
    Scan scan(line);
    if (!scan.To("\"")) return false;
    const std::string_view text = TrimBlanks(scan.rest());
    if (text.starts_with("log_history\": [")) in_state_ = true;
    if (!in_state_ || !scan.To("\": ")) return false;
    const std::string_view name = text.substr(0, text.find('"'));
    const std::optional<double> value = scan.Number();
    scan.Skip(",");
    if (!value || !scan.done()) return false;
    if (name == "epoch") {  // the first of an object
      fact_ = {};
    } else if (name == "step") {
      TellStep(AsCount(value), facts);
    }
    if (name == "reward") {  // TRL's mean
      fact_.of_rewards = true;
      fact_.score = *value;
    }
    SetNamed(kState, name, *value, &fact_);
    return true;
  }

  // An evaluation's object has no loss of this name, the last one has none.
  void TellStep(std::optional<int64_t> step, FactList* facts) {
    if (step && fact_.has(StepField::kLoss)) {
      fact_.step = step;
      // As in the dicts: the mean of NaN alone is 0.
      if (fact_[StepField::kLoss] == 0 && fact_.has(StepField::kGradNorm) &&
          std::isnan(fact_[StepField::kGradNorm])) {
        fact_.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
      }
      facts->push_back(fact_);
    }
    fact_ = {};
  }

  TrainerDictReader dicts_{TrainerProgram{{}, {}}};
  bool in_state_ = false;  // trainer_state.json, whose list has begun
  LogFact fact_;           // of the object that is read
};

constexpr std::string_view kHfMarks[] = {"'loss': ",
                                         "%|",
                                         "\"epoch\": ",
                                         "\"grad_norm\": ",
                                         "\"learning_rate\": ",
                                         "\"loss\": ",
                                         "\"step\": ",
                                         "\"reward\": ",
                                         "\"log_history\": "};

// LLaMA-Factory prints the dicts twice, once through its logger; and
// trainer_log.jsonl.
//  {"current_steps": 10, "total_steps": 93, "loss": 4.169, "lr": 2.25e-06,
//  "epoch": 0.33, "percentage": 10.75, "elapsed_time": "0:04:02"}
//  [INFO|2025-01-02 10:00:00] llamafactory.train.callbacks:143 >> {'loss': 1.2,
//  'learning_rate': 4.9e-05, 'epoch': 0.03, 'throughput': 13061.0}
constexpr std::string_view kLlamaWords[] = {"llamafactory.", "llmtuner."};
constexpr std::string_view kLlamaAlso[] = {
    "\"loss\": {loss}", "\"grad_norm\": {norm}", "\"lr\": {lr}",
    "\"learning_rate\": {lr}"};
constexpr LinePattern kLlamaLines[] = {
    {"\"current_steps\": {step},", kLlamaAlso}};

class LlamaFactoryReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    const size_t told = facts->size();
    json_.Read(line, facts);
    if (facts->size() == told) dicts_.Read(line, facts);
  }

 private:
  PatternReader json_{kLlamaLines, {}};
  TrainerDictReader dicts_{TrainerProgram{{}, kLlamaWords}};
};

constexpr std::string_view kLlamaMarks[] = {
    "{\"current_steps\": ", "'loss': ", "%|", "llamafactory.", "llmtuner."};

// Axolotl's dicts show memory, its other lines its name.
//  [2024-05-01 10:00:00,123] [INFO] [axolotl.train.train:85] [PID:1] [RANK:0]
//  {'loss': 1.31, 'grad_norm': 0.9, 'learning_rate': 2e-05,
//  'memory/max_mem_active(gib)': 14.56, 'epoch': 0.01}
constexpr std::string_view kAxolotlKeys[] = {"memory/max_"};
constexpr std::string_view kAxolotlWords[] = {"[axolotl."};
constexpr TrainerProgram kAxolotlProgram = {kAxolotlKeys, kAxolotlWords};
constexpr std::string_view kAxolotlMarks[] = {"'loss': ", "%|", "[axolotl."};

// TRL: rewards, log probabilities and divergences. Losses may be negative, or
// rise while all is well.
//  {'loss': 0.6931, 'grad_norm': 5.8, 'learning_rate': 0.0, 'rewards/chosen':
//  0.0, 'rewards/margins': 0.0, 'logps/chosen': -268.0, 'epoch': 0.01}
constexpr std::string_view kTrlKeys[] = {"rewards/",   "reward",       "logps/",
                                         "objective/", "completions/", "kl"};
constexpr TrainerProgram kTrlProgram = {kTrlKeys, {}, true};
constexpr std::string_view kTrlMarks[] = {"'loss", "%|"};

}  // namespace

const LogFormat kHfTrainer = {
    .name = "hf_trainer",
    .title = "Hugging Face Trainer, ms-swift",
    .marks = kHfMarks,
    .make = Fresh<HfTrainerReader>,
};

const LogFormat kLlamaFactory = {
    .name = "llama_factory",
    .title = "LLaMA-Factory (trainer_log.jsonl, console)",
    .marks = kLlamaMarks,
    .make = Fresh<LlamaFactoryReader>,
};

const LogFormat kAxolotl = {
    .name = "axolotl",
    .title = "Axolotl",
    .marks = kAxolotlMarks,
    .make = TrainerDicts<kAxolotlProgram>,
};

const LogFormat kTrl = {
    .name = "trl",
    .title = "TRL (DPO, KTO, GRPO, PPO, reward models)",
    .marks = kTrlMarks,
    .make = TrainerDicts<kTrlProgram>,
};

}  // namespace nanwatch
