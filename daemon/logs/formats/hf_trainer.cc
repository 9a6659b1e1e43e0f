// Hugging Face's Trainer: a Python dict a log step; the numbers are strings in
// newer versions. Neither loss scale nor step is in it.
//
//  {'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}
//   12%|#2        | 12/100 [00:10<01:15,  1.17it/s]

#include <memory>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"

namespace nanwatch {
namespace {

std::unique_ptr<LineReader> Make(const ColumnMap&) {
  return std::make_unique<TrainerDictReader>(TrainerProgram{{}, {}});
}

constexpr std::string_view kMarks[] = {"'loss': ", "%|"};

}  // namespace

const LogFormat kHfTrainer = {
    .name = "hf_trainer",
    .title = "Hugging Face Trainer, ms-swift",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
