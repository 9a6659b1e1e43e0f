// WeNet: a batch of an epoch, on every rank.
//
// 2021-05-04 10:00:00,123 DEBUG TRAIN Batch 0/100 loss 95.324 loss_att 113.1
// loss_ctc 53.8 lr 0.00080 grad_norm 5.12 rank 0

#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class WeNetReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "Batch ", [&](std::string_view text, size_t at) {
      const std::string_view head = line.substr(0, at);
      if (head.find("TRAIN ") == std::string_view::npos) return;
      ReadMessage(text, at, facts);
    });
  }

 private:
  // Behind "Batch ": the epoch, the batch in it, names and numbers.
  void ReadMessage(std::string_view text, size_t at, FactList* facts) {
    Scan scan(text);
    const std::optional<Ratio> place = ReadRatio(&scan);
    if (!place || !scan.rest().starts_with(" loss ")) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    if (!SetBehind(text, "loss ", StepField::kLoss, &fact)) return;
    SetBehind(text, "lr ", StepField::kLearningRate, &fact);
    SetBehind(text, "grad_norm ", StepField::kGradNorm, &fact);
    fact.step = epochs_.Step(place->part, place->whole);
    facts->push_back(fact);
  }

  EpochSteps epochs_;
};

constexpr std::string_view kMarks[] = {"TRAIN "};

}  // namespace

const LogFormat kWeNet = {
    .name = "wenet",
    .title = "WeNet",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<WeNetReader>,
};

}  // namespace nanwatch
