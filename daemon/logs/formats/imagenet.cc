// The ImageNet examples of PyTorch, Apex and torch_npu, and what was made of
// them (MoCo, HRNet): the batch's value and, in brackets, the epoch's mean.
//
//  Epoch: [0][10/5004]\tTime 0.345 (0.401)\tSpeed 742.1 (638.4)\tLoss 6.93
//  (6.95)\tPrec@1 0.391 (0.102)\tPrec@5 1.953 (0.611)

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "Epoch: [": `0][10/5004]<tab>Time ...`.
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || !scan.Skip("][")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("]\t") || !scan.To("\tLoss ")) return;
  const std::optional<double> loss = scan.Number();
  if (!loss || !scan.Skip(" (")) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *epoch * step->whole + step->part;
  fact.Set(StepField::kLoss, *loss);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "Epoch: [", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"\tLoss "};

}  // namespace

const LogFormat kImageNet = {
    .name = "imagenet",
    .title = "ImageNet examples of PyTorch, Apex and torch_npu, MoCo, HRNet",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scalers' lines do
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
