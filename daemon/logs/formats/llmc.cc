// llm.c: a step, its loss and norm, each with its z-score.
//
//  step    1/19560 | loss 11.009 (+nanz)| norm 15.2 (+nanz)| lr 8.57e-07 |
//  2517.44 ms | 39.9% bf16 MFU | 208262 tok/s

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "step ".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip(" | loss ")) return;
  const std::optional<double> loss = scan.Number();
  if (!loss || !scan.Skip(" (") || !scan.To("z)|")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = step->part;
  fact.Set(StepField::kLoss, *loss);
  SetBehind(scan.rest(), "norm ", StepField::kGradNorm, &fact);
  SetBehind(scan.rest(), "lr ", StepField::kLearningRate, &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "step ", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"z)| norm "};

}  // namespace

const LogFormat kLlmC = {
    .name = "llm_c",
    .title = "llm.c",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
