// InternLM and InternEvo: the metrics of a batch, with commas or blanks between
// them. A batch that was skipped counts as a step, too; its norm is -1 where it
// overflowed, and -2 where it was NaN; InternEvo prints what it was.
//
// 2023-07-07 12:29:01,636 INFO train.py:323 in
// record_current_batch_training_metrics -- tflops=189.8,step=1,loss=11.61,tgs
// (tokens/gpu/second)=4274.45,lr=6e-07,loss_scale=65536.0,grad_norm={
// '0_default': 65.15},micro_num=4,num_consumed_tokens=262144,
// inf_nan_skip_batches=0,...

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr double kOverflowed = -1;
constexpr double kWasNan = -2;

void AddNorm(double norm, LogFact* fact) {
  const bool coded = norm == kOverflowed || norm == kWasNan;
  if (coded || !std::isfinite(norm)) fact->overflow = true;
  if (norm == kWasNan || std::isnan(norm)) {
    fact->Set(StepField::kGradNorm, std::numeric_limits<double>::quiet_NaN());
  } else if (!coded && !fact->has(StepField::kGradNorm)) {
    fact->Set(StepField::kGradNorm, norm);  // the first group's
  }
  if (!fact->overflow) fact->overflow = false;
}

// Behind "grad_norm=": a number, or one for each group of parameters:
// "{'0_default': 65.15, '1_fp32': 0.0}".
void ReadNorms(std::string_view text, LogFact* fact) {
  if (!text.starts_with("{")) {
    const std::optional<Scan::Printed> norm = NumberBehind(text, "");
    if (norm) AddNorm(norm->value, fact);
    return;
  }
  Scan scan(text.substr(0, std::min(text.find('}'), text.size())));
  while (scan.To("': ")) {
    const std::optional<double> norm = scan.Number();
    // One that touches a torn line's end may lack digits.
    if (norm && (!scan.done() || scan.at() < text.size())) AddNorm(*norm, fact);
  }
}

// Behind the name of the function that prints it.
void ReadMessage(std::string_view text, size_t at, FactList* facts) {
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  const auto step = NumberBehind(text, "step=");
  if (!step) return;
  fact.step = AsCount(step->value);
  if (!fact.step || !SetBehind(text, "loss=", StepField::kLoss, &fact)) return;
  SetBehind(text, "lr=", StepField::kLearningRate, &fact);
  if (const auto scale = NumberBehind(text, "loss_scale=")) {
    SetScale(scale->text, ScaleText::kExact, &fact);
  }
  Scan norms(text);
  if (norms.To("grad_norm=")) ReadNorms(norms.rest(), &fact);
  if (const auto skipped = NumberBehind(text, "inf_nan_skip_batches=")) {
    fact.skipped_total = AsCount(skipped->value);
  }
  facts->push_back(fact);
}

constexpr std::string_view kFunction = "record_current_batch_training_metrics";

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, kFunction, [facts](std::string_view text, size_t at) {
    ReadMessage(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {kFunction};

}  // namespace

const LogFormat kInternLm = {
    .name = "internlm",
    .title = "InternLM, InternEvo",
    .marks = kMarks,
    .tells_overflows = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
