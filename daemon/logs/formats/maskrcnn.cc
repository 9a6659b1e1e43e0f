// maskrcnn-benchmark (MLPerf Mask R-CNN). Numbers are medians of the last 20
// steps, in parentheses means of all.
//
// ... eta: 4:19:20  iter: 20  loss: 5.1036 (6.3)  ...  lr: 0.0026  max mem: 10

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void Read(std::string_view line, FactList* facts) {
  Scan scan(line);
  if (!scan.To("eta: ") || !scan.To("  iter: ")) return;
  const size_t at = scan.at();
  const std::optional<int64_t> step = scan.Integer();
  if (!step || !scan.Skip("  loss: ")) return;
  const std::optional<double> loss = scan.Number();
  if (!loss || scan.peek() != ' ') return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
  if (!scan.To("  lr: ")) return;
  const std::optional<double> rate = scan.Number();
  if (rate && scan.peek() == ' ') fact.Set(StepField::kLearningRate, *rate);
}

constexpr std::string_view kMarks[] = {"  loss: "};

}  // namespace

const LogFormat kMaskRcnn = {
    .name = "maskrcnn",
    .title = "maskrcnn-benchmark, MLPerf Mask R-CNN",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scalers' lines do
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
