// mindyolo on MindSpore. With overflow_still_update an overflowed update is
// applied all the same; newer versions tell an overflow only where it falls on
// a step that is logged, just before that step's line; where gradients are
// accumulated, each.
//
//  overflow, still update, loss scale adjust to 1024.0
//  Epoch 1/300, Step 100/1848, imgsize (640, 640), loss: 11.6707, lbox: 3.6262,
//  lcls: 5.5689, dfl: 2.4756, cur_lr: 0.09925

#include <algorithm>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "overflow, ".
void ReadOverflow(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  std::optional<bool> applied;
  bool accumulates = false;
  if (scan.Skip("still update, ")) {
    applied = true;
  } else if (scan.Skip("drop step, ")) {
    applied = false;
  } else if (scan.Skip("drop. ")) {
    applied = false;
    accumulates = true;
  }
  if (!scan.Skip("loss scale adjust to ") &&
      !scan.Skip("Loss scale adjust to ")) {
    return;
  }
  LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
  fact.applied = applied;
  fact.of_next_line = !accumulates;
  scan.SkipBlanks();
  scan.Skip("[");
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  if (scale && scale->text.find('.') != std::string_view::npos) {
    SetScale(scale->text, ScaleText::kExact, &fact);
  }
}

// Behind "Epoch ". Some versions print the total before the bar. `newest` is
// the newest line's step.
void ReadStepLine(std::string_view text, size_t at, int64_t* newest,
                  FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || !scan.Skip(", Step ")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip(", imgsize ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  const int64_t before = std::min(epoch->part, epoch->whole) - 1;
  const int64_t in_epoch = std::max(step->part, step->whole);
  fact.step = std::max<int64_t>(0, before) * in_epoch +
              std::min(step->part, step->whole);
  // With the last step of an epoch some print the number of the next one.
  if (step->part == step->whole && *fact.step - in_epoch > *newest &&
      *newest > 0) {
    *fact.step -= in_epoch;
  }
  if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
  // The line's end; a list, where groups of parameters have their own.
  if (!SetBehind(text, "cur_lr: ", StepField::kLearningRate, &fact,
                 LastNumber::kIsWhole)) {
    SetBehind(text, "cur_lr: [", StepField::kLearningRate, &fact);
  }
  *newest = *fact.step;
  facts->push_back(fact);
}

class MindYoloReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "overflow, ",
                   [facts](std::string_view text, size_t at) {
                     ReadOverflow(text, at, facts);
                   });
    ForEachMessage(line, "Epoch ",
                   [this, facts](std::string_view text, size_t at) {
                     ReadStepLine(text, at, &newest_, facts);
                   });
  }

 private:
  int64_t newest_ = 0;
};

constexpr std::string_view kMarks[] = {"oss scale adjust to ", ", imgsize "};

}  // namespace

const LogFormat kMindYolo = {
    .name = "mindyolo",
    .title = "mindyolo (MindSpore)",
    .marks = kMarks,
    .make = Fresh<MindYoloReader>,
};

}  // namespace nanwatch
