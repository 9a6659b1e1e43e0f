// LitGPT. Several lines a step where gradients are accumulated: the first
// stands for it.
//
//  Epoch 1 | iter 10 step 5 | loss train: 2.123, val: n/a | iter time: 123.45
//  ms iter 10 step 5: loss 2.1234, iter time: 123.45ms (optimizer.step)

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class LitGptReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "iter ",
                   [this, facts](std::string_view text, size_t at) {
                     ReadMessage(text, at, facts);
                   });
  }

 private:
  // Behind "iter ".
  void ReadMessage(std::string_view text, size_t at, FactList* facts) {
    Scan scan(text);
    if (!scan.Integer()) return;
    if (!scan.Skip(" step ") && !scan.Skip(" | step ")) return;
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step) return;
    if (!scan.Skip(" | loss train: ") && !scan.Skip(": loss ")) return;
    const std::optional<double> loss = scan.Number();
    if (!loss || scan.peek() != ',' || *step == step_) return;
    step_ = *step;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
    fact.step = *step;
    fact.Set(StepField::kLoss, *loss);
  }

  int64_t step_ = -1;
};

constexpr std::string_view kMarks[] = {"| loss train: ", ": loss "};

}  // namespace

const LogFormat kLitGpt = {
    .name = "litgpt",
    .title = "LitGPT, lit-gpt",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<LitGptReader>,
};

}  // namespace nanwatch
