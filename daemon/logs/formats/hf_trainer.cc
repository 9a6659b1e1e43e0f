// Hugging Face's Trainer: a Python dict a log step; the numbers are strings in
// newer versions. Neither loss scale nor step is in it. And its
// trainer_state.json, where a log step is an object of a line a number, in the
// order of their names, so that the step is the last.
//
//  {'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}
//   12%|#2        | 12/100 [00:10<01:15,  1.17it/s]
//       "loss": 2.31,
//       "step": 10

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

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
    } else if (name == "loss") {
      fact_.Set(StepField::kLoss, *value);
    } else if (name == "grad_norm") {
      fact_.Set(StepField::kGradNorm, *value);
    } else if (name == "learning_rate") {
      fact_.Set(StepField::kLearningRate, *value);
    } else if (name == "step") {
      TellStep(AsCount(value), facts);
    }
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

constexpr std::string_view kMarks[] = {"'loss': ",
                                       "%|",
                                       "\"epoch\": ",
                                       "\"grad_norm\": ",
                                       "\"learning_rate\": ",
                                       "\"loss\": ",
                                       "\"step\": ",
                                       "\"log_history\": "};

}  // namespace

const LogFormat kHfTrainer = {
    .name = "hf_trainer",
    .title = "Hugging Face Trainer, ms-swift",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<HfTrainerReader>,
};

}  // namespace nanwatch
