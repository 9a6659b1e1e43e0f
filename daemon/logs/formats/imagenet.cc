// The ImageNet examples of PyTorch, Apex and torch_npu, and what was made of
// them (MoCo, HRNet, SwAV): the batch's value and, in brackets, the epoch's
// mean.
//
//  Epoch: [0][10/5004]\tTime 0.345 (0.401)\tSpeed 742.1 (638.4)\tLoss 6.93
//  (6.95)\tPrec@1 0.391 (0.102)\tPrec@5 1.953 (0.611)
//
//  INFO - 05/30/20 10:12:11 - 0:12:01 - Epoch: [0][50]\tTime 0.412 (0.431)
//  \tData 0.010 (0.020)\tLoss 7.4404 (7.5404)\tLr: 0.3000

#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class ImageNetReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "Epoch: [",
                   [this, facts](std::string_view text, size_t at) {
                     ReadStepLine(text, at, facts);
                   });
  }

 private:
  // Behind "Epoch: [": `0][10/5004]<tab>Time ...`. SwAV does not print how many
  // batches an epoch has.
  void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
    Scan scan(text);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || !scan.Skip("][")) return;
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step) return;
    scan.SkipBlanks();
    std::optional<int64_t> whole;
    if (scan.Skip("/")) {
      whole = ReadCount(&scan);
      if (!whole) return;
    }
    if (!scan.Skip("]\t") || !scan.To("\tLoss ")) return;
    const std::optional<double> loss = scan.Number();
    if (!loss || !scan.Skip(" (")) return;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
    fact.step = whole ? *epoch * *whole + *step : steps_.Step(*epoch, *step);
    fact.Set(StepField::kLoss, *loss);
  }

  EpochSteps steps_;
};

constexpr std::string_view kMarks[] = {"\tLoss "};

}  // namespace

const LogFormat kImageNet = {
    .name = "imagenet",
    .title = "ImageNet examples of PyTorch, Apex and torch_npu, MoCo, HRNet",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scalers' lines do
    .skips_take_steps = true,
    .make = Fresh<ImageNetReader>,
};

}  // namespace nanwatch
