// verl's console logger: every metric of a step in one line. Its losses are
// near zero, and often below.
//
//  step:12 - actor/entropy:0.17 - actor/pg_loss:-7.6e-05 - actor/grad_norm:0.62
//  - actor/lr:1e-06 - critic/score/mean:0.93

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

struct Metric {
  std::string_view text;
  StepField field;
  double unit;
};
// Of two for a field the first that is there.
constexpr Metric kMetrics[] = {
    {" - actor/loss:", StepField::kLoss, 1},
    {" - actor/pg_loss:", StepField::kLoss, 1},
    {" - train/loss:", StepField::kLoss, 1},
    {" - actor/grad_norm:", StepField::kGradNorm, 1},
    {" - train/grad_norm:", StepField::kGradNorm, 1},
    {" - actor/lr:", StepField::kLearningRate, 1},
    {" - train/lr:", StepField::kLearningRate, 1},
    {" - train/lr(1e-3):", StepField::kLearningRate, 1e-3},
};

// Behind "step:".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.rest().starts_with(" - ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  for (const Metric& name : kMetrics) {
    Scan value(text);
    if (fact.has(name.field) || !value.To(name.text)) continue;
    // Newer ones print np.float64(0.62). The last metric of a torn line may
    // lack digits.
    const std::string_view rest = value.rest();
    const size_t end = rest.find(" - ");
    const bool last = end == std::string_view::npos;
    if (last && !rest.ends_with(')')) continue;
    const std::optional<double> number = PrintedValue(rest.substr(0, end));
    if (number) fact.Set(name.field, *number * name.unit);
  }
  if (fact.has(StepField::kLoss) || fact.has(StepField::kGradNorm)) {
    facts->push_back(fact);
  }
}

void Read(std::string_view line, FactList* facts) {
  size_t at = line.find("step:");
  while (at != std::string_view::npos) {
    // Not "timing_s/step:" or "training/global_step:", which are metrics.
    if (at == 0 || line[at - 1] == ' ') {
      const size_t next = line.find(" step:", at + 5);
      ReadStepLine(line.substr(at + 5, next - at - 5), at, facts);
    }
    at = line.find("step:", at + 5);
  }
}

constexpr std::string_view kMarks[] = {" - actor/", " - train/"};

}  // namespace

const LogFormat kVerl = {
    .name = "verl",
    .title = "verl (PPO, GRPO, SFT)",
    .marks = kMarks,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
