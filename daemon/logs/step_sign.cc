#include "logs/step_sign.h"

#include "logs/in_words.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// A bar's title, as programs name a training: none, "Train:", "Epoch 3:",
// "steps: ". Others are of data, weights, evaluations.
bool IsOfTraining(std::string_view title) {
  constexpr std::string_view kWords[] = {"train", "epoch", "step", "iter"};
  constexpr size_t kTitleMax = 32;
  title = TrimBlanks(title);
  while (!title.empty() && IsDigit(title.back())) title.remove_suffix(1);
  title = TrimBlanks(title);
  if (title.empty()) return true;
  return title.size() <= kTitleMax && !IsEvaluation(title) &&
         HasOneOf(LowerCase(title), kWords);
}

}  // namespace

std::optional<int64_t> StepSigns::FindInBar(std::string_view line) {
  const std::optional<BarPlace> bar = BarIn(line);
  if (!bar || !IsOfTraining(line.substr(0, bar->begin))) return std::nullopt;
  const StepPlace& step = bar->step;
  // One that is complete when it is first seen is of what came before.
  const bool other = whole_ == 0 ? step.step == step.whole || step.whole == 0
                                 : step.whole != whole_;
  if (other) return std::nullopt;
  whole_ = step.whole;
  return step.step;
}

std::optional<int64_t> StepSigns::Find(std::string_view line) {
  for (const std::string_view name :
       {"global_steps': ", "global_step': ", "global_step: ", "GLOBAL_STEP: ",
        "global_step=", "Global Step: ", "global step "}) {
    const auto step = NumberBehind(line, name, LastNumber::kIsWhole);
    if (step && AsCount(step->value)) return AsCount(step->value);
  }
  return FindInBar(line);
}

}  // namespace nanwatch
