// The MetricLogger of torchvision's references, which DeiT, MAE, BEiT, DINO and
// many others took over, and Swin's lines. A value is the median of the last
// lines' and, in brackets, the mean of the epoch.
//
//  Epoch: [0]  [  20/1251]  eta: 0:25:11  lr: 0.000001  loss: 6.9331 (6.9400)
//  loss_scale: 65536.0000 (65536.0000)  grad_norm: 1.2 (1.3)  time: 0.5
//  Train: [0/300][10/1251]\teta 0:25:12 lr 0.000001\ttime 0.3 (0.5)\tloss
//  6.9331 (6.9400)\tgrad_norm 1.2 (1.3)\tloss_scale 65536.0 (65536.0)

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void SetScaleBehind(std::string_view text, std::string_view name,
                    LogFact* fact) {
  const std::optional<Scan::Printed> scale = NumberBehind(text, name);
  if (scale) SetScale(scale->text, ScaleText::kRounded, fact);
}

// Behind "Epoch: [".
void ReadMetricLogger(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || !scan.Skip("]  [")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("]  ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *epoch * step->whole + step->part;
  if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
  SetBehind(text, "grad_norm: ", StepField::kGradNorm, &fact);
  SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
  SetScaleBehind(text, "loss_scale: ", &fact);
  facts->push_back(fact);
}

// Behind "Train: [".
void ReadSwin(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || !scan.Skip("][")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("]")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = epoch->part * step->whole + step->part;
  if (!SetBehind(text, "loss ", StepField::kLoss, &fact)) return;
  SetBehind(text, "grad_norm ", StepField::kGradNorm, &fact);
  SetBehind(text, "lr ", StepField::kLearningRate, &fact);
  SetScaleBehind(text, "loss_scale ", &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "Epoch: [", [facts](std::string_view text, size_t at) {
    ReadMetricLogger(text, at, facts);
  });
  ForEachMessage(line, "Train: [", [facts](std::string_view text, size_t at) {
    ReadSwin(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"Epoch: [", "Train: ["};

}  // namespace

const LogFormat kMetricLogger = {
    .name = "metric_logger",
    .title = "DeiT, MAE, BEiT, DINO, torchvision references, Swin",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
