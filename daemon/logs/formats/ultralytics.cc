// Ultralytics' YOLOv5, v8 and later, and YOLOv7: a bar an epoch, below a
// heading that names what stands beside it. A step is an epoch; the losses are
// means. Between the memory and the objects of a batch stand the parts of the
// loss, and in some versions their total.
//
//       Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
//       1/100      2.51G      1.142      2.345      1.211         50 640:
//  100%|##########| 12/12 [00:03<00:00,  3.41it/s]
//
//      Epoch   gpu_mem       box       obj       cls     total    labels
//       0/99     2.51G    0.1122    0.0491   0.02912    0.1904        21

#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kMost = 10;   // numbers of a row; ours: seven are known
constexpr size_t kBehind = 2;  // of them, behind the losses: objects, size
constexpr std::string_view kMarks[] = {"_mem ", "G "};

std::string_view NextWord(Scan* scan) {
  scan->SkipBlanks();
  return scan->Until(' ');
}

class UltralyticsReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan scan(line);
    if (scan.To("_mem ")) return ReadHeading(&scan);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || !scan.Skip('/') || !ReadCount(&scan)) return;
    const std::string_view memory = NextWord(&scan);
    if (!memory.ends_with('G') || !IsDigit(memory.front())) return;
    const std::optional<double> loss = ReadLoss(&scan);
    if (!loss || !scan.Skip(':')) return;
    scan.SkipBlanks();
    // A bar is complete at its end; a mean that is no number stays none.
    const bool due = scan.Skip("100%") || !std::isfinite(*loss);
    if (!due || epoch == told_) return;
    told_ = epoch;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
    fact.step = epoch;
    fact.means = fact.of_epoch = true;
    fact.Set(StepField::kLoss, *loss);
  }

 private:
  // Learns which of the losses is all of it. An epoch begins.
  void ReadHeading(Scan* scan) {
    total_.reset();
    told_.reset();
    for (size_t i = 0; i < kMost && !scan->done(); ++i) {
      constexpr std::string_view kNames[] = {"total", "loss", "train_loss"};
      if (IsOneOf(NextWord(scan), kNames)) total_ = i;
    }
  }

  // Reads the numbers of a row; past them.
  std::optional<double> ReadLoss(Scan* scan) const {
    std::array<double, kMost> numbers;
    size_t count = 0;
    while (count < kMost) {
      const std::optional<double> number = scan->Number();
      if (!number) break;
      numbers[count++] = *number;
    }
    if (count <= kBehind) return std::nullopt;
    const size_t losses = count - kBehind;
    if (total_ && *total_ < losses) return numbers[*total_];
    return std::accumulate(numbers.begin(), numbers.begin() + losses, 0.0);
  }

  std::optional<size_t> total_;  // its place among the losses
  std::optional<int64_t> told_;  // epoch below the newest heading
};

}  // namespace

const LogFormat kUltralytics = {
    .name = "ultralytics",
    .title = "Ultralytics YOLO, YOLOv7 (an epoch a line)",
    .marks = kMarks,
    .make = Fresh<UltralyticsReader>,
};

}  // namespace nanwatch
