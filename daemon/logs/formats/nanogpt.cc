// nanoGPT and the trainings that grew out of it.
//
//  iter 100: loss 2.1234, time 12.34ms, mfu 1.00%
//  step    10 | loss: 9.1234 | lr 1.0e-04 | norm: 1.2345 | dt: 93.1ms | tok/sec
//  step:100/5100 train_loss:4.5678 train_time:12345ms step_avg:137.2ms

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "iter ". "step 250: train loss 4.1, val loss 4.2" is an evaluation.
void ReadIter(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip(": loss ")) return;
  const std::optional<double> loss = scan.Number();
  if (!loss || !scan.Skip(", time ")) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
}

// Behind "step".
void ReadStep(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const bool ratio = scan.Skip(":");
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  if (ratio) {
    if (!scan.Skip("/") || !scan.Integer() || !scan.Skip(" train_loss:")) {
      return;
    }
    if (!SetBehind(text, "train_loss:", StepField::kLoss, &fact)) return;
  } else {
    if (!scan.Skip(" | loss: ")) return;
    if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
    SetBehind(text, "lr ", StepField::kLearningRate, &fact);
    SetBehind(text, "norm: ", StepField::kGradNorm, &fact);
  }
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "iter ", [facts](std::string_view text, size_t at) {
    ReadIter(text, at, facts);
  });
  ForEachMessage(line, "step", [facts](std::string_view text, size_t at) {
    ReadStep(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {": loss ", " | loss: ", " train_loss:"};

}  // namespace

const LogFormat kNanoGpt = {
    .name = "nanogpt",
    .title = "nanoGPT, build-nanogpt, modded-nanogpt",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
