// Axolotl on Hugging Face's Trainer: its dicts show memory, its other lines its
// name.
//
//  [2024-05-01 10:00:00,123] [INFO] [axolotl.train.train:85] [PID:1] [RANK:0]
//  {'loss': 1.31, 'grad_norm': 0.9, 'learning_rate': 2e-05,
//  'memory/max_mem_active(gib)': 14.56, 'epoch': 0.01}

#include <memory>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"

namespace nanwatch {
namespace {

constexpr std::string_view kKeys[] = {"memory/max_"};
constexpr std::string_view kWords[] = {"[axolotl."};
std::unique_ptr<LineReader> Make(const ColumnMap&) {
  return std::make_unique<TrainerDictReader>(TrainerProgram{kKeys, kWords});
}

constexpr std::string_view kMarks[] = {"'loss': ", "%|", "[axolotl."};

}  // namespace

const LogFormat kAxolotl = {
    .name = "axolotl",
    .title = "Axolotl",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
