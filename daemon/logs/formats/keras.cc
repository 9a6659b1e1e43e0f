// Keras' progress bar, of Keras 2 and 3. The loss is the mean of the epoch so
// far: once NaN, it stays NaN to the epoch's end.
//
//  Epoch 3/10
//   12/120 [==>...........................] - ETA: 0s - loss: 2.3012 - acc: 0.1
//   12/120 ━━━━━━━━━━━━━━━━━━━━ 1s 5ms/step - accuracy: 0.1 - loss: 2.3012

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class KerasReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    const size_t bar = BarOf(line);
    const size_t at = std::min(line.rfind("Epoch "), line.size());
    const std::optional<Ratio> heading = EpochAlone(line.substr(at));
    const bool alone = heading && bar > at;
    if (!alone) {
      if (bar == std::string_view::npos) return;
      ReadBar(heading ? line.substr(0, at) : line, bar, facts);
    }
    if (heading) Begin(*heading, alone);
  }

 private:
  // Trainings of an epoch each go on, one behind another. What is glued to a
  // bar is the next one's, or a validation's, which calls itself the first:
  // "loss: 0.2442Epoch 1/10".
  void Begin(const Ratio& heading, bool alone) {
    const bool goes_on = heading.whole == 1 && whole_ == 1 && ended_;
    const int64_t epoch = goes_on ? epoch_ + 1 : heading.part;
    if (!alone && epoch != epoch_ + 1) return;
    epoch_ = epoch;
    whole_ = heading.whole;
  }

  void ReadBar(std::string_view line, size_t bar, FactList* facts) {
    const size_t begin = line.find_last_not_of("0123456789/", bar - 1) + 1;
    Scan scan(line, begin);
    const std::optional<Ratio> batch = ReadRatio(&scan);
    if (!batch || batch->whole == 0 || batch->part > batch->whole ||
        scan.at() != bar) {
      return;
    }
    if (scan.rest().find("ETA: ") == std::string_view::npos &&
        scan.rest().find("/step") == std::string_view::npos) {
      return;
    }
    ended_ = batch->part == batch->whole;
    AddBar(scan.rest(), *batch, facts);
  }

  // "Epoch 3/10", with nothing behind it.
  static std::optional<Ratio> EpochAlone(std::string_view text) {
    Scan scan(text);
    if (!scan.Skip("Epoch ")) return std::nullopt;
    const std::optional<Ratio> epoch = ReadRatio(&scan);
    if (!epoch || !TrimBlanks(scan.rest()).empty()) return std::nullopt;
    return epoch;
  }

  // Where the blank before a drawn bar stands, behind "12/120"; npos: nowhere.
  static size_t BarOf(std::string_view line) {
    for (const std::string_view drawn :
         {" [=", " [>", " [.", " \xe2\x94\x81"}) {
      const size_t at = line.find(drawn);
      if (at != std::string_view::npos && at > 0) return at;
    }
    return std::string_view::npos;
  }

  void AddBar(std::string_view text, Ratio batch, FactList* facts) {
    LogFact fact;
    const std::optional<Scan::Printed> loss =
        NumberBehind(text, "loss: ", LastNumber::kIsWhole);
    if (!loss) return;
    // %.4f or %.4e.
    const bool finite = loss->value - loss->value == 0;
    if (finite && Decimals(loss->text) != 4) return;
    fact.step = std::max<int64_t>(0, epoch_ - 1) * batch.whole + batch.part;
    if (*fact.step == step_) return;  // drawn again
    step_ = *fact.step;
    fact.Set(StepField::kLoss, loss->value);
    for (const std::string_view rate : {"lr: ", "learning_rate: "}) {
      SetBehind(text, rate, StepField::kLearningRate, &fact,
                LastNumber::kIsWhole);
    }
    facts->push_back(fact);
  }

  int64_t epoch_ = 0;
  int64_t whole_ = 0;   // epochs, of the newest heading
  bool ended_ = false;  // the newest bar is whole
  int64_t step_ = 0;
};

constexpr std::string_view kMarks[] = {"loss: ", "Epoch "};

}  // namespace

const LogFormat kKeras = {
    .name = "keras",
    .title = "Keras 2 and 3 (progress bar)",
    .marks = kMarks,
    .make = Fresh<KerasReader>,
};

}  // namespace nanwatch
