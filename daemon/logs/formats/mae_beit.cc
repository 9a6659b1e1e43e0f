// MAE, BEiT, DeiT and their relatives: a JSON line an epoch with its means, in
// Python's JSON, which has NaN and Infinity. A step is an epoch.
//
//  {"train_lr": 0.0001, "train_loss": 6.91, "train_loss_scale": 853.33,
//  "train_grad_norm": Infinity, "test_loss": 5.1, "epoch": 3}

#include <string_view>

#include "logs/dict_scan.h"
#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

void Read(std::string_view line, FactList* facts) {
  const size_t begin = line.find('{');
  if (begin == std::string_view::npos) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(begin);
  DictScan dict(line.substr(begin));
  while (dict.Next()) {
    // fairseq's lines have the same names, as strings.
    if (dict.quoted()) return;
    const std::string_view key = dict.key();
    if (key == "epoch") {
      const std::optional<int64_t> epoch = dict.Count();
      if (epoch) fact.step = *epoch;
    }
    const std::optional<double> value = dict.Number();
    if (!value) continue;
    if (key == "train_loss") fact.Set(StepField::kLoss, *value);
    if (key == "train_grad_norm") fact.Set(StepField::kGradNorm, *value);
    if (key == "train_lr") fact.Set(StepField::kLearningRate, *value);
    if (key == "train_loss_scale" && *value >= 0) {
      fact.Set(StepField::kLossScale, *value);
    }
  }
  if (!dict.whole() || !fact.step || !fact.has(StepField::kLoss)) return;
  fact.of_epoch = true;
  facts->push_back(fact);
}

constexpr std::string_view kMarks[] = {"\"train_loss\": "};

}  // namespace

const LogFormat kMaeBeit = {
    .name = "mae_beit",
    .title = "MAE, BEiT, DeiT and relatives (log.txt, a line an epoch)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
