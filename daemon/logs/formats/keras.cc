// Keras' progress bar, of Keras 2 and 3. The loss is the mean of the epoch so
// far: once NaN, it stays NaN to the epoch's end.
//
//  Epoch 3/10
//   12/120 [==>...........................] - ETA: 0s - loss: 2.3012 - acc: 0.1
//   12/120 ━━━━━━━━━━━━━━━━━━━━ 1s 5ms/step - accuracy: 0.1 - loss: 2.3012

#include <algorithm>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class KerasReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (line.starts_with("Epoch ")) {
      ReadEpoch(line);
      return;
    }
    Scan scan(line);
    // Keras 2 goes back over its bar with backspaces.
    while (scan.peek() == '\b') scan.Skip("\b");
    const std::optional<Ratio> batch = ReadRatio(&scan);
    if (!batch || batch->whole == 0 || batch->part > batch->whole) return;
    if (!scan.Skip(" [") && !scan.Skip(" \xe2\x94\x81")) return;
    if (scan.rest().find("ETA: ") == std::string_view::npos &&
        scan.rest().find("/step") == std::string_view::npos) {
      return;
    }
    AddBar(scan.rest(), *batch, facts);
  }

 private:
  // "Epoch 3/10", alone on its line.
  void ReadEpoch(std::string_view line) {
    Scan scan(line, 6);
    const std::optional<Ratio> epoch = ReadRatio(&scan);
    if (epoch && TrimBlanks(scan.rest()).empty()) epoch_ = epoch->part;
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
    SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
    SetBehind(text, "learning_rate: ", StepField::kLearningRate, &fact);
    facts->push_back(fact);
  }

  int64_t epoch_ = 0;
  int64_t step_ = 0;
};

constexpr std::string_view kMarks[] = {"loss: ", "Epoch "};

}  // namespace

const LogFormat kKeras = {
    .name = "keras",
    .title = "Keras 2 and 3 (progress bar)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Fresh<KerasReader>,
};

}  // namespace nanwatch
