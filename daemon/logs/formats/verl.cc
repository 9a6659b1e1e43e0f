// verl's console logger: every metric of a step in one line. Its losses are
// near zero, and often below. In PPO actor and critic are of an optimizer each.
//
//  step:12 - actor/entropy:0.17 - actor/pg_loss:-7.6e-05 - actor/grad_norm:0.62
//  - actor/lr:1e-06 - critic/score/mean:0.93

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/loss_series.h"
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
constexpr Metric kActor[] = {
    {" - actor/loss:", StepField::kLoss, 1},
    {" - actor/pg_loss:", StepField::kLoss, 1},
    {" - train/loss:", StepField::kLoss, 1},
    {" - actor/grad_norm:", StepField::kGradNorm, 1},
    {" - train/grad_norm:", StepField::kGradNorm, 1},
    {" - actor/lr:", StepField::kLearningRate, 1},
    {" - train/lr:", StepField::kLearningRate, 1},
    {" - train/lr(1e-3):", StepField::kLearningRate, 1e-3},
};
// Of PPO, beside the actor's. How large its loss is depends on the rewards.
constexpr Metric kCritic[] = {
    {" - critic/grad_norm:", StepField::kGradNorm, 1},
    {" - critic/lr:", StepField::kLearningRate, 1},
};

// Returns the number of the metric called " - name:". Newer ones print
// np.float64(0.62). The last metric of a torn line may lack digits.
std::optional<double> ValueOf(std::string_view text, std::string_view name) {
  Scan value(text);
  if (!value.To(name)) return std::nullopt;
  const std::string_view rest = value.rest();
  const size_t end = rest.find(" - ");
  const bool last = end == std::string_view::npos;
  if (last && !rest.ends_with(')')) return std::nullopt;
  return PrintedValue(rest.substr(0, end));
}

// Sets the numbers of `metrics` that the text behind "step:" shows.
void AddMetrics(std::string_view text, std::span<const Metric> metrics,
                LogFact* fact) {
  for (const Metric& name : metrics) {
    if (fact->has(name.field)) continue;
    const std::optional<double> number = ValueOf(text, name.text);
    if (number) fact->Set(name.field, *number * name.unit);
  }
}

// Appends what one of two optimizers shows, by its name.
void TellOptimizer(std::string_view name, int32_t number, LogFact fact,
                   FactList* facts) {
  fact.scaler = number;
  fact.before_loss = name;
  fact.words = NumberOfWords(name);
  facts->push_back(fact);
}

// Behind "step:".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.rest().starts_with(" - ")) return;
  LogFact actor;
  actor.at = static_cast<uint32_t>(at);
  actor.step = *step;
  LogFact critic = actor;
  AddMetrics(text, kActor, &actor);
  AddMetrics(text, kCritic, &critic);
  if (const auto score = ValueOf(text, " - critic/score/mean:")) {
    actor.score = *score;
  }
  const bool acts =
      actor.has(StepField::kLoss) || actor.has(StepField::kGradNorm);
  // Before the actor is trained, the critic may be alone.
  if (!critic.has(StepField::kGradNorm)) {
    if (acts) facts->push_back(actor);
    return;
  }
  if (acts) TellOptimizer("actor", 0, actor, facts);
  TellOptimizer("critic", 1, critic, facts);
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

constexpr std::string_view kMarks[] = {" - actor/", " - train/", " - critic/"};

}  // namespace

const LogFormat kVerl = {
    .name = "verl",
    .title = "verl (PPO, GRPO, SFT)",
    .marks = kMarks,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
