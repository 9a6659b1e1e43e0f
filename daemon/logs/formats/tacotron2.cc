// tacotron2 and waveglow: a line a step that was applied. FP16_Optimizer or
// Apex tells of the others.
//
// Train loss 16 49.316841 Grad Norm 10.800460 3.71s/it

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kTrain = "Train loss ";

void Read(std::string_view line, FactList* facts) {
  Scan scan(line);
  if (!scan.To(kTrain)) return;
  const size_t at = scan.at();
  const std::optional<int64_t> step = scan.Integer();
  const std::optional<double> loss = scan.Number();
  if (!step || !loss || !scan.Skip(" Grad Norm ")) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
  const std::optional<double> norm = scan.Number();
  if (norm && scan.peek() == ' ') fact.Set(StepField::kGradNorm, *norm);
}

constexpr std::string_view kMarks[] = {kTrain};

}  // namespace

const LogFormat kTacotron2 = {
    .name = "tacotron2",
    .title = "NVIDIA tacotron2",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scalers' lines do
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
