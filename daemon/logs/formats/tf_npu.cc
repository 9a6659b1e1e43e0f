// The loss scale that TensorFlow on Ascend prints at each step of BERT, on each
// rank and often into another line. It says nothing of overflows.
//
//  loss_scale:[65536.0]

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void Read(std::string_view line, FactList* facts) {
  Scan scan(line);
  while (scan.To("loss_scale:[")) {
    const size_t at = scan.at();
    const std::optional<Scan::Printed> scale = scan.PrintedNumber();
    if (!scale || scan.peek() != ']') continue;
    LogFact fact;
    fact.kind = LogFact::Kind::kScale;
    fact.at = static_cast<uint32_t>(at);
    SetScale(scale->text, ScaleText::kExact, &fact);
    if (fact.has(StepField::kLossScale)) facts->push_back(fact);
  }
}

constexpr std::string_view kMarks[] = {"loss_scale:["};

}  // namespace

const LogFormat kTfNpu = {
    .name = "tf_npu",
    .title = "TensorFlow on Ascend (loss scale lines)",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
