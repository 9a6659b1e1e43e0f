// PyTorch's example word_language_model, its tutorial on Transformers, and what
// grew out of them: AWD-LSTM, Transformer-XL, NVIDIA's too.
//
// | epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.04 | loss  7.63 |
// ppl  2063.66
// | epoch   1 step      200 |    200 batches | lr 0.00025 | ms/batch 584.91 |
// loss  7.54 | ppl  1882.31

#include <optional>
#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class WordLanguageModelReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "| epoch ",
                   [this, facts](std::string_view text, size_t at) {
                     ReadMessage(text, at, facts);
                   });
  }

 private:
  void ReadMessage(std::string_view text, size_t at, FactList* facts) {
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    Scan scan(text);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || text.find("| ms/batch ") == std::string_view::npos) return;
    if (scan.Skip(" step")) {
      fact.step = ReadCount(&scan);
    } else {
      scan.SkipBlanks();
      if (!scan.Skip("|")) return;
      const std::optional<Ratio> batch = ReadRatio(&scan);
      if (!batch || !scan.Skip(" batches")) return;
      // Some print as the whole what is none.
      fact.step = epochs_.Step(*epoch, batch->part);
    }
    if (!fact.step || !SetBehind(text, "loss ", StepField::kLoss, &fact)) {
      return;
    }
    SetBehind(text, "lr ", StepField::kLearningRate, &fact);
    facts->push_back(fact);
  }

  EpochSteps epochs_;
};

constexpr std::string_view kMarks[] = {"| ms/batch "};

}  // namespace

const LogFormat kWordLanguageModel = {
    .name = "word_language_model",
    .title = "PyTorch's word_language_model, Transformer-XL",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<WordLanguageModelReader>,
};

}  // namespace nanwatch
