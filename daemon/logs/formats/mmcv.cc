// OpenMMLab's training logs: mmcv's text, MMEngine's text, and the JSON lines
// of both. None of them shows the loss scale.
//
//  mmdet - INFO - Epoch [1][50/5455]  lr: 4.575e-04, eta: 6:27:11, time: 0.355,
//  loss_cls: 0.5640, loss: 1.5311, grad_norm: 10.7843
//  mmengine - INFO - Epoch(train) [1][ 50/3104]  lr: 1.0000e-02  eta: 0:26:28
//  time: 0.1285  loss: 0.7176  loss_cls: 0.3771  grad_norm: 1.2345
//  {"mode": "train", "epoch": 1, "iter": 50, "lr": 0.0004, "loss": 1.5311}

#include <span>
#include <string_view>

#include "logs/dict_scan.h"
#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

// Losses and norms are printed with %.4f: fewer decimals are torn ones.
constexpr std::string_view kAlso[] = {"loss: {loss}$4", "grad_norm: {norm}$4",
                                      "lr: {lr}"};
constexpr LinePattern kMmcvLines[] = {
    {"Epoch [{epoch}][{batch}/{whole}]", kAlso}, {"Iter [{step}/ {}]", kAlso}};
constexpr LinePattern kMmEngineLines[] = {
    {"Epoch(train) [{epoch}][{batch}/{whole}]", kAlso},
    {"Iter(train) [{step}/ {}]", kAlso}};
// Numbers are means over the steps between lines, or the last ten.
constexpr PatternHabits kHabits = {.epochs = PatternHabits::Epochs::kFromOne,
                                   .means = true};

constexpr NamedField kKeys[] = {{"loss", StepField::kLoss},
                                {"grad_norm", StepField::kGradNorm},
                                {"lr", StepField::kLearningRate}};

// mmcv's JSON counts iterations in each epoch, MMEngine's has the run's step.
void ReadJson(std::string_view line, bool engine, EpochSteps* steps,
              FactList* facts) {
  LogFact fact;
  fact.means = kHabits.means;
  std::optional<int64_t> epoch, iter, step;
  bool train = engine, timed = false;
  DictScan dict(line);
  while (dict.Next()) {
    const std::string_view key = dict.key();
    const std::optional<double> value = dict.Number();
    if (key == "mode") train = dict.value() == "train";
    if (key == "epoch") epoch = dict.Count();
    if (key == "iter") iter = dict.Count();
    if (key == "step") step = dict.Count();
    if (key == "data_time") timed = true;
    if (!value) continue;
    SetNamed(kKeys, key, *value, &fact);
  }
  if (!dict.whole() || !train || !timed || !iter ||
      (!fact.has(StepField::kLoss) && !fact.has(StepField::kGradNorm))) {
    return;
  }
  if (engine) {
    fact.step = step;
  } else if (epoch) {
    fact.step = steps->Step(*epoch, *iter);
  }
  if (fact.step) facts->push_back(fact);
}

template <bool kEngine>
class MmReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (!line.starts_with('{')) {
      text_.Read(line, facts);
    } else if (line.starts_with("{\"mode\"") != kEngine) {
      ReadJson(line, kEngine, &steps_, facts);
    }
  }

 private:
  PatternReader text_{
      kEngine ? std::span<const LinePattern>(kMmEngineLines) : kMmcvLines,
      kHabits};
  EpochSteps steps_;
};

constexpr std::string_view kMmcvMarks[] = {"Epoch [", "Iter [",
                                           "{\"mode\": \"train\""};
constexpr std::string_view kMmEngineMarks[] = {"Epoch(train)", "Iter(train)",
                                               "\"data_time\": "};

}  // namespace

const LogFormat kMmcv = {
    .name = "mmcv",
    .title = "OpenMMLab with mmcv (mmdet 2 and relatives), text and JSON",
    .marks = kMmcvMarks,
    .make = Fresh<MmReader<false>>,
};

const LogFormat kMmEngine = {
    .name = "mmengine",
    .title = "OpenMMLab with MMEngine, XTuner, text and JSON",
    .marks = kMmEngineMarks,
    .make = Fresh<MmReader<true>>,
};

}  // namespace nanwatch
