// ESPnet 2: a line every so many batches, with their means: of the loss scale,
// too, and of norms, which one overflow makes infinite.
//
// [host] 2021-03-01 10:11:40,123 (trainer:672) INFO: 1epoch:train:51-100batch:
// iter_time=1.2e-04, loss_ctc=119.942, acc=0.51, loss=101.951, grad_norm=3.1,
// clip=100.0, loss_scale=6.554e+04, optim0_lr0=2.000e-06, train_time=0.8

#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kTrain = "epoch:train:";
// "The grad norm is nan. Skipping updating the model."
constexpr std::string_view kSkipped = ". Skipping updating the model";

class EspnetReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan scan(line);
    if (scan.To(kSkipped)) {
      // Of an update within the next line's batches.
      LogFact& fact = AddFact(LogFact::Kind::kOverflow, scan.at(), facts);
      fact.applied = false;
      return;
    }
    if (!scan.To(kTrain)) return;
    size_t begin = scan.at() - kTrain.size();
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
      --begin;
    }
    // Not Integer(), which reads no number that a word is glued to.
    const std::optional<int64_t> epoch = AsCount(
        WholeNumber(line.substr(begin, scan.at() - kTrain.size() - begin)));
    const std::string_view batches = scan.Until(':');
    const size_t dash = batches.rfind('-');
    if (!epoch || *epoch > kCountMax || !batches.ends_with("batch") ||
        dash == std::string_view::npos) {
      return;
    }
    const std::optional<int64_t> step = AsCount(WholeNumber(
        batches.substr(dash + 1, batches.size() - dash - 1 - kBatch)));
    if (!step || *step > kCountMax) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(begin);
    const std::string_view numbers = scan.rest();
    if (!SetBehind(numbers, "loss=", StepField::kLoss, &fact)) return;
    SetBehind(numbers, "grad_norm=", StepField::kGradNorm, &fact);
    SetBehind(numbers, "loss_scale=", StepField::kLossScale, &fact);
    SetBehind(numbers, "optim0_lr0=", StepField::kLearningRate, &fact);
    fact.step = steps_.Step(*epoch, *step);
    fact.means = true;
    facts->push_back(fact);
  }

 private:
  static constexpr size_t kBatch = std::string_view("batch").size();

  EpochSteps steps_;
};

constexpr std::string_view kMarks[] = {kTrain, kSkipped};

}  // namespace

const LogFormat kEspnet = {
    .name = "espnet",
    .title = "ESPnet 2",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scaler's lines may
    .skips_take_steps = true,
    .make = Fresh<EspnetReader>,
};

}  // namespace nanwatch
