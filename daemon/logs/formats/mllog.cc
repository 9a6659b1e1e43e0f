// MLPerf's result lines, where they tell of the training.
//
//  :::MLLOG {"namespace": "", "time_ms": 1710009491383, "event_type":
//  "POINT_IN_TIME", "key": "train_loss", "value": 11.846, "metadata":
//  {"file": "train.py", "lineno": 277, "samples_count": 2048, "lr": 3.1e-06}}
//  :::MLLOG {..., "key": "tracked_stats", "value": {"train_loss": 2.31},
//  "metadata": {"step": 20}}

#include <algorithm>
#include <iterator>
#include <string_view>

#include "logs/dict_scan.h"
#include "logs/formats/formats.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMark = ":::MLLOG {";

constexpr NamedField kStats[] = {{"train_loss", StepField::kLoss},
                                 {"training_loss", StepField::kLoss},
                                 {"loss", StepField::kLoss},
                                 {"grad_norm", StepField::kGradNorm}};

// A step or what grows with it, the more telling first.
void ReadMetadata(std::string_view text, LogFact* fact) {
  constexpr std::string_view kSteps[] = {"step", "step_num", "iteration",
                                         "samples_count", "epoch_num"};
  size_t best = std::size(kSteps);
  DictScan dict(text);
  while (dict.Next()) {
    const auto rate = dict.key() == "lr" || dict.key() == "learning_rate";
    if (const auto value = dict.Number(); rate && value) {
      fact->Set(StepField::kLearningRate, *value);
    }
    const auto found =
        std::find(std::begin(kSteps), std::end(kSteps), dict.key());
    const auto place = static_cast<size_t>(found - std::begin(kSteps));
    if (place >= best || !AsCount(dict.Number())) continue;
    fact->step = AsCount(dict.Number());
    best = place;
  }
}

// Several numbers at once: "value": {"train_loss": 2.31, "grad_norm": 0.5}.
void ReadStats(std::string_view text, LogFact* fact) {
  DictScan dict(text);
  while (dict.Next()) {
    const std::optional<double> value = dict.Number();
    if (value) SetNamed(kStats, dict.key(), *value, fact);
  }
}

void Read(std::string_view line, FactList* facts) {
  Scan scan(line);
  if (!scan.To(kMark)) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(scan.at());
  std::string_view key;
  DictScan dict(line.substr(scan.at() - 1));
  while (dict.Next()) {
    const std::string_view value = dict.value();
    if (dict.key() == "key") key = value;
    if (dict.key() == "value") {
      if (value.starts_with('{')) ReadStats(value, &fact);
      const std::optional<double> number = dict.Number();
      if (number) SetNamed(kStats, key, *number, &fact);
    }
    if (dict.key() == "metadata") ReadMetadata(value, &fact);
  }
  const bool says =
      fact.has(StepField::kLoss) || fact.has(StepField::kGradNorm);
  if (dict.whole() && says && fact.step) facts->push_back(fact);
}

constexpr std::string_view kMarks[] = {kMark};

}  // namespace

const LogFormat kMlLog = {
    .name = "mllog",
    .title = "MLPerf's result lines (:::MLLOG)",
    .marks = kMarks,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
