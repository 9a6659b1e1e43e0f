// timm's training script.
//
//  Train: 0 [  50/1251 (  4%)]  Loss: 6.932 (6.94)  Time: 0.320s, 400.32/s
//  (0.470s, 272.39/s)  LR: 1.000e-05  Data: 0.217 (0.047)

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "Train: ".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || !scan.Skip(" [")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip(" (")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *epoch * step->whole + step->part;
  if (!SetBehind(text, "Loss: ", StepField::kLoss, &fact)) return;
  SetBehind(text, "LR: ", StepField::kLearningRate, &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "Train: ", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"%)]"};

}  // namespace

const LogFormat kTimm = {
    .name = "timm",
    .title = "timm (pytorch-image-models)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
