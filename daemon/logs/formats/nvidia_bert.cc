// NVIDIA's BERT (MLPerf): a Python dictionary a step, with a counter of skipped
// steps since the start. A skipped update takes no number.
//
// 0: {'training_steps': 102, 'average_loss': 4.08, 'step_loss': 5.67,
// 'learning_rate': 0.0004, ..., 'global_steps': 9, ..., 'skipped_steps': 9}

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class NvidiaBertReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    const size_t at = line.find("{'training_steps': ");
    if (at == std::string_view::npos) return;
    const std::string_view dict = line.substr(at);
    const auto step = NumberBehind(dict, "'global_steps': ");
    const auto skipped = NumberBehind(dict, "'skipped_steps': ");
    if (!step || !skipped) return;
    Scan prefix(line);
    const auto rank = static_cast<int32_t>(prefix.Integer().value_or(0));
    if (rank_ < 0) rank_ = rank;
    if (rank != rank_) return;  // where all ranks print, one is enough
    LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
    fact.step = AsCount(step->value);
    fact.skipped_total = AsCount(skipped->value);
    SetBehind(dict, "'average_loss': ", StepField::kLoss, &fact);
    SetBehind(dict, "'learning_rate': ", StepField::kLearningRate, &fact);
  }

 private:
  int32_t rank_ = -1;  // whose lines are read; -1: none seen yet
};

constexpr std::string_view kMarks[] = {"'skipped_steps': "};

}  // namespace

const LogFormat kNvidiaBert = {
    .name = "nvidia_bert",
    .title = "NVIDIA BERT (MLPerf)",
    .marks = kMarks,
    .tells_overflows = true,
    .skips_take_steps = false,
    .make = Fresh<NvidiaBertReader>,
};

}  // namespace nanwatch
