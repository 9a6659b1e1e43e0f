// InsightFace's ArcFace training. The scale is printed with %2.f: 0 is less
// than a half.
//
//  Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss 44.2134
//  LearningRate 0.0999   Epoch: 0   Global Step: 100   Fp16 Grad Scale: 65536
//  Required: 13 hours

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "samples/sec".
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  if (!scan.To("Global Step: ")) return;
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || scan.done()) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  if (!SetBehind(text, "Loss ", StepField::kLoss, &fact)) return;
  SetBehind(text, "LearningRate ", StepField::kLearningRate, &fact);
  const std::optional<Scan::Printed> scale =
      NumberBehind(text, "Fp16 Grad Scale:");
  if (scale) SetScale(scale->text, ScaleText::kRounded, &fact);
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "samples/sec",
                 [facts](std::string_view text, size_t at) {
                   ReadStepLine(text, at, facts);
                 });
}

constexpr std::string_view kMarks[] = {"Global Step: "};

}  // namespace

const LogFormat kInsightFace = {
    .name = "insightface",
    .title = "InsightFace (ArcFace)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
