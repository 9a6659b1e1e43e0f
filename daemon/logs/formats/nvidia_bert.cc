// NVIDIA's BERT (MLPerf): a Python dictionary a step, with a counter of skipped
// steps since the start. A skipped update takes no number.
//
// 0: {'training_steps': 102, 'average_loss': 4.08, 'step_loss': 5.67,
// 'learning_rate': 0.0004, ..., 'global_steps': 9, ..., 'skipped_steps': 9}

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The number of `key` ("'average_loss': "), with what must follow it.
std::optional<double> ValueOf(std::string_view line, std::string_view key) {
  Scan scan(line);
  if (!scan.To(key)) return std::nullopt;
  const std::optional<double> value = scan.Number();
  if (!value || (scan.peek() != ',' && scan.peek() != '}')) return std::nullopt;
  return value;
}

class NvidiaBertReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    const size_t at = line.find("{'training_steps': ");
    if (at == std::string_view::npos) return;
    const std::string_view dict = line.substr(at);
    const auto step = AsCount(ValueOf(dict, "'global_steps': "));
    const auto skipped = AsCount(ValueOf(dict, "'skipped_steps': "));
    if (!step || !skipped) return;
    Scan prefix(line);
    const auto rank = static_cast<int32_t>(prefix.Integer().value_or(0));
    if (rank_ < 0) rank_ = rank;
    if (rank != rank_) return;  // where all ranks print, one is enough
    LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
    fact.step = step;
    fact.skipped_total = skipped;
    const std::optional<double> loss = ValueOf(dict, "'average_loss': ");
    if (loss) fact.Set(StepField::kLoss, *loss);
    const std::optional<double> rate = ValueOf(dict, "'learning_rate': ");
    if (rate) fact.Set(StepField::kLearningRate, *rate);
  }

 private:
  int32_t rank_ = -1;  // whose lines are read; -1: none seen yet
};

constexpr std::string_view kMarks[] = {"'skipped_steps': "};

}  // namespace

const LogFormat kNvidiaBert = {
    .name = "nvidia_bert",
    .title = "NVIDIA BERT (MLPerf)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = true,
    .skips_take_steps = false,
    .make = Fresh<NvidiaBertReader>,
};

}  // namespace nanwatch
