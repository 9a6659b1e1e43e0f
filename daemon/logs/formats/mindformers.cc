// MindFormers on Ascend, old and new lines: a step, its loss, whether it
// overflowed, and the loss scale as float32 prints it (268435460.0 is 2^28).
// With data sinking there is one line for several steps.
//
//  Epoch:[  1/  2], step:[    4/  125], loss:[2.244/2.244], time:507.205 ms,
//  lr:[0.], overflow cond: True, loss_scale: 268435460.0
//  { Epoch:[  1/  2], step:[    1/   19], loss: 10.649, per_step_time: 1752ms,
//  lr: 1e-05, overflow cond: False, loss_scale: 1.0, global_norm: [1.31]

#include <algorithm>
#include <cmath>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// float32 in 8 digits is no power of two any more; the scale is one.
double NearestPowerOfTwo(double scale) {
  const double power = std::exp2(std::round(std::log2(scale)));
  return std::abs(scale / power - 1) < 1e-6 ? power : scale;
}

void ReadScale(Scan scan, LogFact* fact) {
  scan.SkipBlanks();
  scan.Skip("[");
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  // At the line's end the decimals show that no digit is missing.
  if (!scale || (scan.done() && Decimals(scale->text) == 0)) return;
  if (scale->value < 0) return;
  fact->Set(StepField::kLossScale,
            scale->value > 0 ? NearestPowerOfTwo(scale->value) : 0);
}

// A number in brackets, or without: "[18.36]", "10.649,".
void SetListed(std::string_view text, std::string_view name, StepField field,
               LogFact* fact) {
  Scan scan(text);
  if (!scan.To(name)) return;
  scan.SkipBlanks();
  const bool list = scan.Skip("[");
  const std::optional<double> value = scan.Number();
  scan.SkipBlanks();
  const char end = scan.peek();
  if (!value || (list ? end != ']' && end != '/' : end != ',')) return;
  fact->Set(field, *value);
}

// Behind "Epoch:[".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || !scan.Skip("], step:[")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip("], loss:")) return;
  Scan overflow = scan;
  if (!overflow.To("overflow cond: ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = std::max<int64_t>(0, epoch->part - 1) * step->whole + step->part;
  SetListed(text, "loss:", StepField::kLoss, &fact);
  SetListed(text, "lr:", StepField::kLearningRate, &fact);
  SetListed(text, "global_norm:", StepField::kGradNorm, &fact);
  overflow.Skip("[");
  if (overflow.Skip("True")) {
    fact.overflow = true;
  } else if (overflow.Skip("False")) {
    fact.overflow = false;
  } else {
    return;
  }
  if (overflow.To("loss_scale:")) ReadScale(overflow, &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "Epoch:[", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"overflow cond: "};

}  // namespace

const LogFormat kMindFormers = {
    .name = "mindformers",
    .title = "MindFormers (MindSpore), old and new",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    // With data sinking only the last step of several says whether it did.
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
