// PaddleNLP's trainer (and PaddleFormers'), and PaddleFleetX.
//
//  loss: 3.25806541, learning_rate: 2.99e-05, global_step: 10,
//  interval_runtime: 2.2591, ..., epoch: 0.0265
//  [train] epoch: [0/1], batch: [10/1000], loss: 10.9, avg_batch_cost: 0.2 sec,
//  speed: 4.1 step/s, ..., learning rate: 6.25e-09, found_inf: 0
//  global step 1, epoch: 0, batch: 0, loss: 11.64, avg_reader_cost: 0.2 sec,
//  ...

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "loss: "; PaddleNLP's evaluation prints "eval_loss: ".
void ReadTrainer(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<double> loss = scan.Number();
  if (!loss || !scan.Skip(", learning_rate: ")) return;
  const std::optional<double> rate = scan.Number();
  if (!rate || !scan.Skip(", global_step: ")) return;
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || scan.peek() != ',') return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
  fact.Set(StepField::kLearningRate, *rate);
  if (!SetBehind(text, "global_norm: ", StepField::kGradNorm, &fact)) {
    SetBehind(text, "grad_norm: ", StepField::kGradNorm, &fact);
  }
  SetBehind(text, "loss_scale: ", StepField::kLossScale, &fact);
  facts->push_back(fact);
}

// The fields behind the step of PaddleFleetX's lines, and of the examples'.
void AddFleetLine(std::string_view text, int64_t step, size_t at,
                  FactList* facts) {
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = step;
  if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
  if (!SetBehind(text, "learning rate: ", StepField::kLearningRate, &fact)) {
    SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
  }
  SetBehind(text, "loss_scale: ", StepField::kLossScale, &fact);
  const std::optional<Scan::Printed> inf =
      NumberBehind(text, "found_inf: ", LastNumber::kIsWhole);
  if (inf) fact.overflow = inf->value != 0;
  facts->push_back(fact);
}

// Behind "epoch: [".
void ReadFleetEpoch(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || !scan.Skip("], batch: [")) return;
  const std::optional<Ratio> batch = ReadRatio(&scan);
  if (!batch || !scan.Skip("], ")) return;
  AddFleetLine(scan.rest(), epoch->part * batch->whole + batch->part, at,
               facts);
}

// Behind "global step ".
void ReadFleetStep(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip(", epoch: ")) return;
  AddFleetLine(scan.rest(), *step, at, facts);
}

void Read(std::string_view line, FactList* facts) {
  if (line.find("[eval]") != std::string_view::npos) return;
  if (line.find(", global_step: ") != std::string_view::npos) {
    ForEachMessage(line, " loss: ", [facts](std::string_view text, size_t at) {
      ReadTrainer(text, at, facts);
    });
    return;
  }
  ForEachMessage(line, "] epoch: [", [facts](std::string_view text, size_t at) {
    ReadFleetEpoch(text, at, facts);
  });
  ForEachMessage(line, "global step ",
                 [facts](std::string_view text, size_t at) {
                   ReadFleetStep(text, at, facts);
                 });
}

constexpr std::string_view kMarks[] = {", global_step: ", ", batch: "};

}  // namespace

const LogFormat kPaddleNlp = {
    .name = "paddlenlp",
    .title = "PaddleNLP, PaddleFormers, PaddleFleetX",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
