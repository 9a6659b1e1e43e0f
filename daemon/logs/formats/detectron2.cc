// Detectron2's metric printer.
//
//  [09/02 02:37:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: 2.1
//  loss_cls: 0.9  time: 0.3  data_time: 0.01  lr: 1.6e-05  max_mem: 2000M

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "iter: ".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip("  ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  if (!SetBehind(text, "total_loss: ", StepField::kLoss, &fact)) return;
  SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
  SetBehind(text, "grad_norm: ", StepField::kGradNorm, &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, " iter: ", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"total_loss: "};

}  // namespace

const LogFormat kDetectron2 = {
    .name = "detectron2",
    .title = "Detectron2",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
