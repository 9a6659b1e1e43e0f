// TensorFlow's estimators: the logging hooks' lines, of TensorFlow's logger or
// of absl's.
//
//  INFO:tensorflow:loss = 0.6931, step = 100 (1.2 sec)
//  I0521 19:45:05.73 2814 basic_session_run_hooks.py:260] global_step = 1300,
//  masked_lm_loss = 0.9416, next_sentence_loss = 0.0235, total_loss = 0.9651

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "loss = ": the first that the hook prints, then its step.
void ReadLossFirst(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<double> loss = scan.Number();
  if (!loss || scan.peek() != ',' || !scan.To(", step = ")) return;
  const std::optional<int64_t> step = ReadCount(&scan);
  // "(1.2 sec)" follows, but at the first step, which is 0 or a checkpoint's.
  if (!step || (scan.done() && *step > 0)) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
}

// Behind "global_step = ".
void ReadStepFirst(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip(", ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  if (!SetBehind(text, "total_loss = ", StepField::kLoss, &fact) &&
      !SetBehind(text, "loss = ", StepField::kLoss, &fact)) {
    return;
  }
  if (!SetBehind(text, "learning_rate = ", StepField::kLearningRate, &fact)) {
    SetBehind(text, "lr = ", StepField::kLearningRate, &fact);
  }
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  // An evaluation's result: "Saving dict for global step 100: loss = ...".
  if (line.find("aving dict") != std::string_view::npos) return;
  ForEachMessage(line,
                 "global_step = ", [facts](std::string_view text, size_t at) {
                   ReadStepFirst(text, at, facts);
                 });
  for (std::string_view mark : {":loss = ", "] loss = "}) {
    ForEachMessage(line, mark, [facts](std::string_view text, size_t at) {
      ReadLossFirst(text, at, facts);
    });
  }
}

constexpr std::string_view kMarks[] = {"loss = "};

}  // namespace

const LogFormat kTfEstimator = {
    .name = "tf_estimator",
    .title = "TensorFlow estimators, also on Ascend",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
