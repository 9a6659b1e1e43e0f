// mindyolo on MindSpore. With overflow_still_update an overflowed update is
// applied all the same; newer versions tell an overflow only where it falls on
// a step that is logged.
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
  if (scan.Skip("still update, ")) {
    applied = true;
  } else if (scan.Skip("drop step, ") || scan.Skip("drop. ")) {
    applied = false;
  }
  if (!scan.Skip("loss scale adjust to ") &&
      !scan.Skip("Loss scale adjust to ")) {
    return;
  }
  LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
  fact.applied = applied;
  scan.SkipBlanks();
  scan.Skip("[");
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  if (scale && scale->text.find('.') != std::string_view::npos) {
    SetScale(scale->text, ScaleText::kExact, &fact);
  }
}

// Behind "Epoch ". Some versions print the total before the bar.
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || !scan.Skip(", Step ")) return;
  const std::optional<Ratio> step = ReadRatio(&scan);
  if (!step || !scan.Skip(", imgsize ")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  const int64_t before = std::min(epoch->part, epoch->whole) - 1;
  fact.step = std::max<int64_t>(0, before) * std::max(step->part, step->whole) +
              std::min(step->part, step->whole);
  if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
  // The line's end; a list, where groups of parameters have their own.
  if (!SetBehind(text, "cur_lr: ", StepField::kLearningRate, &fact,
                 LastNumber::kIsWhole)) {
    SetBehind(text, "cur_lr: [", StepField::kLearningRate, &fact);
  }
  facts->push_back(fact);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "overflow, ", [facts](std::string_view text, size_t at) {
    ReadOverflow(text, at, facts);
  });
  ForEachMessage(line, "Epoch ", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {"oss scale adjust to ", ", imgsize "};

}  // namespace

const LogFormat kMindYolo = {
    .name = "mindyolo",
    .title = "mindyolo (MindSpore)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
