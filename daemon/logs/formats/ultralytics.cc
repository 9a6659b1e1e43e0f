// Ultralytics' YOLOv5, v8 and later: a bar an epoch with the means of its three
// losses. A step is an epoch; the loss is their sum.
//
//       1/100      2.51G      1.142      2.345      1.211         50 640:
//  100%|##########| 12/12 [00:03<00:00,  3.41it/s]

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void Read(std::string_view line, FactList* facts) {
  Scan scan(line);
  const std::optional<Ratio> epoch = ReadRatio(&scan);
  if (!epoch || epoch->part > epoch->whole) return;
  scan.SkipBlanks();
  // Memory: "2.51G", or "0G" on a CPU.
  const std::string_view memory = scan.Until(' ');
  if (memory.size() < 2 || !memory.ends_with('G')) return;
  if (!WholeNumber(memory.substr(0, memory.size() - 1))) return;
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const std::optional<Scan::Printed> loss = scan.PrintedNumber();
    if (!loss) return;
    sum += loss->value;
  }
  // Objects, image size, and the bar at its end.
  if (!scan.Integer() || !scan.Integer() || !scan.Skip(":")) return;
  scan.SkipBlanks();
  if (!scan.Skip("100%")) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
  fact.step = epoch->part;
  fact.Set(StepField::kLoss, sum);
}

constexpr std::string_view kMarks[] = {": 100%"};

}  // namespace

const LogFormat kUltralytics = {
    .name = "ultralytics",
    .title = "Ultralytics YOLO (an epoch a line)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
