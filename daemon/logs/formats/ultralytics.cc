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
//
// A file of results (results.txt) has no heading: behind the size stand the
// scores and losses of the evaluation.
//
//       0/99     2.51G    0.1122    0.0491   0.02912    0.1904        21
//  640  0.4512    0.3217    0.2984    0.1245    0.0911    0.0487   0.02131
//
// The first YOLOv3, and what grew out of it (JDE), print a row each so many
// batches, perhaps behind a logger's clock; its losses are the epoch's means.
//
//      Epoch       Batch       box      conf     total  nTargets      time
//      12/99     120/600     0.125       1.5     1.625        64      0.25

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

constexpr size_t kMost = 16;   // numbers of a row; ours: 14 are known
constexpr size_t kBehind = 2;  // of them, behind the losses: objects, size
constexpr size_t kScores = 4;  // and of a file of results: P, R, mAP, another
constexpr double kSize = 32;   // of images: the stride of the largest cells
constexpr double kRounded = 0.002;  // of a sum of four digits each; ours
constexpr std::string_view kMarks[] = {"_mem ", "G ", "nTargets ", "/"};

std::string_view NextWord(Scan* scan) {
  scan->SkipBlanks();
  return scan->Until(' ');
}

class UltralyticsReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan scan(line);
    if (scan.To("_mem ")) return ReadHeading(&scan);
    if (scan.To(" nTargets ")) return ReadBatchHeading(line);
    if (behind_ > 0) return ReadBatch(line, facts);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || !scan.Skip('/') || !ReadCount(&scan)) return;
    const std::string_view memory = NextWord(&scan);
    if (!memory.ends_with('G') || !IsDigit(memory.front())) return;
    ReadNumbers(&scan);
    scan.SkipBlanks();
    const bool result = scan.done();
    const std::optional<double> loss = result ? LossOfResult() : LossOfBar();
    if (!loss || (!result && !scan.Skip(':'))) return;
    scan.SkipBlanks();
    // A bar is complete at its end; a mean that is no number stays none.
    const bool due = result || scan.Skip("100%") || !std::isfinite(*loss);
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

  // Learns which column is the whole loss, by those behind.
  void ReadBatchHeading(std::string_view line) {
    row_.Split(line, ' ');
    const auto& names = row_.cells();
    const auto batch = std::ranges::find(names, "Batch");
    const auto total = std::find(batch, names.end(), "total");
    if (total == names.end()) return;
    behind_ = static_cast<size_t>(names.end() - total);
    columns_ = static_cast<size_t>(names.end() - batch) + 1;
  }

  void ReadBatch(std::string_view line, FactList* facts) {
    row_.Split(line, ' ');
    const auto& cells = row_.cells();
    if (cells.size() < columns_) return;
    const auto first = cells.end() - static_cast<std::ptrdiff_t>(columns_);
    Scan epoch(first[0]);
    Scan batch(first[1]);
    const std::optional<Ratio> of_run = ReadRatio(&epoch);
    const std::optional<Ratio> of_epoch = ReadRatio(&batch);
    const auto loss =
        WholeNumber(*(cells.end() - static_cast<std::ptrdiff_t>(behind_)));
    if (!of_run || !of_epoch || !loss || !epoch.done() || !batch.done()) return;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
    fact.step = steps_.Step(of_run->part, of_epoch->part, of_epoch->whole);
    fact.means = true;
    fact.Set(StepField::kLoss, *loss);
  }

  // Reads the numbers of a row; past them.
  void ReadNumbers(Scan* scan) {
    for (count_ = 0; count_ < kMost; ++count_) {
      const std::optional<double> number = scan->Number();
      if (!number) break;
      numbers_[count_] = *number;
    }
  }

  std::optional<double> LossOfBar() const {
    if (count_ <= kBehind) return std::nullopt;
    return LossOf(count_ - kBehind);
  }

  // The losses end before the objects and the size of images, a multiple of 32.
  std::optional<double> LossOfResult() const {
    const auto is_count = [](double n) { return n >= 0 && n == std::floor(n); };
    for (size_t i = 1; i + kBehind + kScores <= count_; ++i) {
      const double size = numbers_[i + 1];
      const bool sized = size >= kSize && std::fmod(size, kSize) == 0;
      if (!sized || !is_count(numbers_[i])) continue;
      // Of four and more the last may be the sum of the others.
      const double last = numbers_[i - 1];
      const double sum = LossOf(i);
      const bool total = i > 3 && !(std::abs(sum - 2 * last) > kRounded * last);
      return total ? last : sum;
    }
    return std::nullopt;
  }

  // Of so many losses the total, or their sum.
  double LossOf(size_t losses) const {
    if (total_ && *total_ < losses) return numbers_[*total_];
    return std::accumulate(numbers_.begin(), numbers_.begin() + losses, 0.0);
  }

  std::array<double, kMost> numbers_;  // of the row
  size_t count_ = 0;
  std::optional<size_t> total_;  // its place among the losses
  std::optional<int64_t> told_;  // epoch below the newest heading
  TableRow row_;
  size_t columns_ = 0;  // of a row of batches
  size_t behind_ = 0;   // of these, from the whole loss on; 0: no heading yet
  EpochSteps steps_;
};

}  // namespace

const LogFormat kUltralytics = {
    .name = "ultralytics",
    .title = "Ultralytics YOLO, YOLOv3 to YOLOv7",
    .marks = kMarks,
    .make = Fresh<UltralyticsReader>,
};

}  // namespace nanwatch
