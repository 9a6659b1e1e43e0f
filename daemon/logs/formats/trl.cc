// TRL on Hugging Face's Trainer: the same dicts with rewards, log probabilities
// and divergences. Losses may be negative, or rise while all is well.
//
//  {'loss': 0.6931, 'grad_norm': 5.8, 'learning_rate': 0.0, 'rewards/chosen':
//  0.0, 'rewards/margins': 0.0, 'logps/chosen': -268.0, 'epoch': 0.01}

#include <memory>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/trainer_dict.h"

namespace nanwatch {
namespace {

constexpr std::string_view kKeys[] = {"rewards/",   "reward",       "logps/",
                                      "objective/", "completions/", "kl"};
std::unique_ptr<LineReader> Make(const ColumnMap&) {
  return std::make_unique<TrainerDictReader>(TrainerProgram{kKeys, {}, true});
}

constexpr std::string_view kMarks[] = {"'loss", "%|"};

}  // namespace

const LogFormat kTrl = {
    .name = "trl",
    .title = "TRL (DPO, KTO, GRPO, PPO, reward models)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
