// OpenMMLab's training logs: mmcv's text, MMEngine's text, and the JSON lines
// of both. None of them shows the loss scale.
//
//  mmdet - INFO - Epoch [1][50/5455]  lr: 4.575e-04, eta: 6:27:11, time: 0.355,
//  loss_cls: 0.5640, loss: 1.5311, grad_norm: 10.7843
//  mmengine - INFO - Epoch(train) [1][ 50/3104]  lr: 1.0000e-02  eta: 0:26:28
//  time: 0.1285  loss: 0.7176  loss_cls: 0.3771  grad_norm: 1.2345
//  {"mode": "train", "epoch": 1, "iter": 50, "lr": 0.0004, "loss": 1.5311}

#include <algorithm>
#include <memory>
#include <string_view>

#include "logs/dict_scan.h"
#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Losses and norms are printed with %.4f: fewer decimals are torn ones.
void SetMeasure(std::string_view text, std::string_view name, StepField field,
                LogFact* fact) {
  const std::optional<Scan::Printed> printed =
      NumberBehind(text, name, LastNumber::kIsWhole);
  if (!printed) return;
  const bool number = printed->value - printed->value == 0;
  if (!number || Decimals(printed->text) == 4) fact->Set(field, printed->value);
}

void ReadFields(std::string_view text, int64_t step, size_t at,
                FactList* facts) {
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = step;
  SetMeasure(text, "loss: ", StepField::kLoss, &fact);
  SetMeasure(text, "grad_norm: ", StepField::kGradNorm, &fact);
  if (fact.present == 0) return;
  SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
  facts->push_back(fact);
}

// Behind "Epoch [" or "Epoch(train)  [": `1][50/5455]`.
void ReadEpochLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || !scan.Skip("][")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("]")) return;
  ReadFields(scan.rest(),
             std::max<int64_t>(0, *epoch - 1) * step->whole + step->part, at,
             facts);
}

// Behind "Iter [" or "Iter(train)  [": `50/40000]`.
void ReadIterLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("]")) return;
  ReadFields(scan.rest(), step->part, at, facts);
}

void ReadMmcv(std::string_view line, FactList* facts) {
  ForEachMessage(line, "Epoch [", [facts](std::string_view text, size_t at) {
    ReadEpochLine(text, at, facts);
  });
  ForEachMessage(line, "Iter [", [facts](std::string_view text, size_t at) {
    ReadIterLine(text, at, facts);
  });
}

// MMEngine puts blanks before the bracket: one, and one for each digit that the
// count of epochs has more than this epoch.
void ReadMmEngine(std::string_view line, FactList* facts) {
  using Reader = void (*)(std::string_view, size_t, FactList*);
  const auto read = [line, facts](std::string_view mark, Reader reader) {
    ForEachMessage(line, mark, [&](std::string_view text, size_t at) {
      Scan scan(text);
      scan.SkipBlanks();
      if (scan.Skip("[")) reader(scan.rest(), at, facts);
    });
  };
  read("Epoch(train)", ReadEpochLine);
  read("Iter(train)", ReadIterLine);
}

// mmcv's JSON counts iterations in each epoch, MMEngine's has the run's step.
void ReadJson(std::string_view line, bool engine, EpochSteps* steps,
              FactList* facts) {
  LogFact fact;
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
    if (key == "loss") fact.Set(StepField::kLoss, *value);
    if (key == "grad_norm") fact.Set(StepField::kGradNorm, *value);
    if (key == "lr") fact.Set(StepField::kLearningRate, *value);
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

class MmReader : public LineReader {
 public:
  explicit MmReader(bool engine) : engine_(engine) {}
  void Read(std::string_view line, FactList* facts) override {
    if (!line.starts_with('{')) {
      engine_ ? ReadMmEngine(line, facts) : ReadMmcv(line, facts);
    } else if (line.starts_with("{\"mode\"") != engine_) {
      ReadJson(line, engine_, &steps_, facts);
    }
  }

 private:
  const bool engine_;
  EpochSteps steps_;
};

std::unique_ptr<LineReader> MakeMmcv(const ColumnMap&) {
  return std::make_unique<MmReader>(false);
}
std::unique_ptr<LineReader> MakeMmEngine(const ColumnMap&) {
  return std::make_unique<MmReader>(true);
}

constexpr std::string_view kMmcvMarks[] = {"Epoch [", "Iter [",
                                           "{\"mode\": \"train\""};
constexpr std::string_view kMmEngineMarks[] = {"Epoch(train)", "Iter(train)",
                                               "\"data_time\": "};

}  // namespace

const LogFormat kMmcv = {
    .name = "mmcv",
    .title = "OpenMMLab with mmcv (mmdet 2 and relatives), text and JSON",
    .part = LogFormat::Part::kProgress,
    .marks = kMmcvMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = MakeMmcv,
};

const LogFormat kMmEngine = {
    .name = "mmengine",
    .title = "OpenMMLab with MMEngine, XTuner, text and JSON",
    .part = LogFormat::Part::kProgress,
    .marks = kMmEngineMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = MakeMmEngine,
};

}  // namespace nanwatch
