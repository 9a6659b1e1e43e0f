// PyTorch Lightning's progress bar. It is drawn many times a step, counts
// batches of an epoch, and in older versions goes on through the validation.
//
//  Epoch 0:  10%|#         | 12/120 [00:01<00:10, 9.8it/s, v_num=0, loss=2.30]

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// A step's loss before an epoch's mean, the exact name before others.
constexpr std::string_view kLossNames[] = {
    "loss=",          "train_loss=",      "train/loss=",
    "loss_step=",     "train_loss_step=", "train/loss_step=",
    "training_loss=", "loss_train=",
};

bool SetFirst(std::string_view text, std::span<const std::string_view> names,
              StepField field, LogFact* fact) {
  for (std::string_view name : names) {
    // A name stands behind ", " or the bar's "[": not within another name.
    for (size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
      if (at > 0 && text[at - 1] != ' ') continue;
      Scan scan(text, at + name.size());
      const std::optional<double> value = scan.Number();
      if (!value || (!scan.done() && scan.peek() != ',')) continue;
      fact->Set(field, *value);
      return true;
    }
  }
  return false;
}

// The first of two adversaries' losses, where both are finite: "g_loss=1.312,
// d_loss=0.604".
std::optional<double> LossOfAdversaries(std::string_view fields) {
  LogFact made;
  LogFact real;
  constexpr std::string_view kMade[] = {
      "g_loss=", "loss_g=", "gen_loss=", "generator_loss=", "loss_gen="};
  constexpr std::string_view kReal[] = {
      "d_loss=", "loss_d=", "disc_loss=", "discriminator_loss=", "loss_disc="};
  const bool both = SetFirst(fields, kMade, StepField::kLoss, &made) &&
                    SetFirst(fields, kReal, StepField::kLoss, &real);
  const bool finite = both && std::isfinite(made[StepField::kLoss]) &&
                      std::isfinite(real[StepField::kLoss]);
  return finite ? std::optional(made[StepField::kLoss]) : std::nullopt;
}

// Sets the loss that a module shows beside the bar's own, where that one is
// finite. False: it shows none.
bool SetLossOfModule(std::string_view fields, LogFact* fact) {
  if (const auto adversary = LossOfAdversaries(fields)) {
    fact->Set(StepField::kLoss, *adversary);
    fact->of_adversary = true;
    return true;
  }
  LogFact own;
  const bool shown = SetFirst(fields, std::span(kLossNames).subspan(1),
                              StepField::kLoss, &own);
  const bool finite = shown && std::isfinite(own[StepField::kLoss]);
  if (finite) fact->Set(StepField::kLoss, own[StepField::kLoss]);
  return finite;
}

class LightningReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (line.find("Validat") != std::string_view::npos ||
        line.find("Sanity") != std::string_view::npos) {
      validating_ = true;
    }
    ForEachMessage(line, "Epoch ",
                   [this, facts](std::string_view text, size_t at) {
                     ReadBar(text, at, facts);
                   });
  }

 private:
  // Behind "Epoch ": `0:  10%|#  | 12/120 [..., loss=2.30]`, or of unknown
  // length `0: : 12it [..., loss=2.30]`.
  void ReadBar(std::string_view text, size_t at, FactList* facts) {
    Scan scan(text);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || !scan.Skip(":")) return;
    std::optional<int64_t> step;
    Scan bar = scan;
    if (bar.To("%|") && bar.To("| ")) {
      const std::optional<Ratio> batch = ReadRatio(&bar);
      if (!batch || !bar.Skip(" [")) return;
      if (!begins_at_) begins_at_ = batch->part <= 1 ? *epoch : 0;
      // The next epoch's bar, which shows what the last one left, and may
      // still have that one's number.
      if (batch->part == 0) return;
      // Other programs' first epoch is the first.
      if (!first_) {
        const bool other = text.find("v_num=") == text.npos;
        first_ = *begins_at_ == 1 && other ? 1 : 0;
      }
      step =
          std::max<int64_t>(0, *epoch - *first_) * batch->whole + batch->part;
      scan = bar;
    } else {
      if (!scan.Skip(" : ") || !scan.To("it [")) return;
      Scan count(text.substr(0, scan.at() - 4));
      count.To(" : ");
      const std::optional<int64_t> batch = ReadCount(&count);
      if (!batch) return;
      step = steps_.Step(*epoch, *batch);
    }
    const size_t end = text.find(']', scan.at());
    if (!step || end == std::string_view::npos) return;
    AddBar(text.substr(scan.at(), end - scan.at()), *step, at, facts);
  }

  void AddBar(std::string_view fields, int64_t step, size_t at,
              FactList* facts) {
    // NeMo's lines have a format of their own.
    if (fields.find("global_step=") != std::string_view::npos) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    fact.step = step;
    if (step == 0 || step == step_ ||
        !SetFirst(fields, kLossNames, StepField::kLoss, &fact)) {
      return;
    }
    // Where a module steps its optimizers itself, this one stands for none.
    placeholder_ = placeholder_ && std::isnan(fact[StepField::kLoss]) &&
                   SetLossOfModule(fields, &fact);
    // The bar of the epoch goes on while the validation's does.
    const double loss = fact[StepField::kLoss];
    if (validating_ && loss == loss_ && step > step_) return;
    validating_ = false;
    step_ = step;
    loss_ = loss;
    constexpr std::string_view kNorms[] = {
        "grad_norm=", "train/grad_norm=", "grad_2.0_norm_total="};
    constexpr std::string_view kRates[] = {"lr=", "train/lr="};
    SetFirst(fields, kNorms, StepField::kGradNorm, &fact);
    SetFirst(fields, kRates, StepField::kLearningRate, &fact);
    facts->push_back(fact);
  }

  EpochSteps steps_;
  std::optional<int64_t> begins_at_;  // epoch whose start was seen first, or 0
  std::optional<int64_t> first_;      // number of the first epoch
  int64_t step_ = 0;                  // of the newest bar that was told
  double loss_ = 0;
  bool validating_ = false;
  bool placeholder_ = true;  // loss=nan, in each bar so far
};

constexpr std::string_view kMarks[] = {"it/s", "s/it", "Validat"};

}  // namespace

const LogFormat kLightning = {
    .name = "lightning",
    .title = "PyTorch Lightning (progress bar)",
    .marks = kMarks,
    .make = Fresh<LightningReader>,
};

}  // namespace nanwatch
