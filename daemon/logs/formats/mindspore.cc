// MindSpore's own callbacks: LossMonitor, and the lines of the BERT, GPT and
// PanGu examples, which print loss, overflow and loss scale, some as one tuple.
//
//  epoch: 1 step: 12, loss is 2.3005836
//  epoch: 1 step: 12, loss is 2.3005836, overflow is True, loss scale is 1.0
//  time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 0, step: 12, output is
//  10.563198, overflow is False, scale is 65536.0
//  epoch: 0.0, current epoch percent: 0.000, step: 12, outputs are (Tensor(
//  shape=[1], dtype=Float32, [ 1.0856101e+01]), Tensor(shape=[], dtype=Bool,
//  False), Tensor(shape=[], dtype=Float32, 65536))

#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The value of the next "Tensor(shape=.., dtype=.., value= 3)".
bool ToTensorValue(Scan* scan) {
  if (!scan->To("Tensor(shape=[") || !scan->To("dtype=")) return false;
  scan->Until(',');
  scan->SkipBlanks();
  scan->Skip("value=");
  scan->SkipBlanks();
  scan->Skip("[");
  scan->SkipBlanks();
  return true;
}

// Behind "outputs are (".
bool ReadOutputs(Scan scan, LogFact* fact) {
  if (!ToTensorValue(&scan)) return false;
  const std::optional<double> loss = scan.Number();
  if (!loss) return false;
  fact->Set(StepField::kLoss, *loss);
  if (!ToTensorValue(&scan)) return true;  // a loss alone
  if (scan.Skip("True")) {
    fact->overflow = true;
  } else if (scan.Skip("False")) {
    fact->overflow = false;
  } else {
    return true;
  }
  if (!ToTensorValue(&scan)) return true;
  const std::optional<double> scale = scan.Number();
  // Behind it stands at least a bracket, or it is torn.
  if (scale && *scale > 0 && !scan.done()) {
    fact->Set(StepField::kLossScale, *scale);
  }
  return true;
}

// Behind the loss: ", overflow is True, loss scale is 65536.0".
void ReadScaler(Scan scan, LogFact* fact) {
  if (!scan.Skip(", overflow is ")) return;
  scan.Skip("[");
  if (scan.Skip("True")) {
    fact->overflow = true;
  } else if (scan.Skip("False")) {
    fact->overflow = false;
  } else {
    return;
  }
  scan.Skip("]");
  if (!scan.Skip(", scale is ") && !scan.Skip(", loss scale is ")) return;
  scan.Skip("[");
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  if (!scale || !(scale->value > 0)) return;
  // A float: at the line's end its point shows that no digit is missing.
  if (scan.done() && scale->text.find('.') == std::string_view::npos) return;
  fact->Set(StepField::kLossScale, scale->value);
}

class MindSporeReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line,
                   "epoch: ", [this, facts](std::string_view text, size_t at) {
                     ReadMessage(text, at, facts);
                   });
  }

 private:
  // Behind "epoch: ".
  void ReadMessage(std::string_view text, size_t at, FactList* facts) {
    Scan scan(text);
    const std::optional<double> epoch = scan.Number();
    if (!epoch || !(*epoch >= 0 && *epoch < 1e9) || !scan.To("step: ")) return;
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step || !scan.Skip(", ")) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    if (scan.Skip("loss is ")) {
      // All digits of a float, at the line's end: some are always there.
      const std::optional<Scan::Printed> loss = scan.PrintedNumber();
      if (!loss || scan.peek() == '-' || scan.peek() == ':') return;
      fact.Set(StepField::kLoss, loss->value);
      ReadScaler(scan, &fact);
      fact.step = steps_.Step(static_cast<int64_t>(*epoch), *step);
    } else if (scan.Skip("output is ")) {
      const std::optional<double> loss = scan.Number();
      if (!loss || scan.peek() != ',') return;
      fact.Set(StepField::kLoss, *loss);
      ReadScaler(scan, &fact);
      fact.step = *step;  // counted over all epochs
    } else if (scan.Skip("outputs are (")) {
      if (!ReadOutputs(scan, &fact)) return;
      fact.step = *step;  // counted over all epochs
    }
    if (fact.step && fact.present != 0) facts->push_back(fact);
  }

  EpochSteps steps_;
};

constexpr std::string_view kMarks[] = {", loss is ", ", output is ",
                                       "outputs are ("};

}  // namespace

const LogFormat kMindSpore = {
    .name = "mindspore",
    .title = "MindSpore (LossMonitor, BERT, GPT and PanGu examples)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<MindSporeReader>,
};

}  // namespace nanwatch
