// NVIDIA NeMo: 2 (lines), 1 (a progress bar that rewrites itself), and 0.x (the
// step on one line, its loss on another; a line where the loss is NaN).
//
// Training epoch 0, iteration 10/99 | lr: 1e-06 | global_step: 10 |
// reduced_train_loss: 10.5 | train_step_timing in s: 0.5
// Epoch 0:  12%|█▏ | 12/100 [00:30<.., reduced_train_loss=10.5,
// global_step=12.0, ...]
// [NeMo I 2020-04-01 10:00:00 callbacks:193] Step: 25

#include <limits>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The text of `key` (": 10.5 |" or "=10.5,"); empty: none, or torn, as the
// line's last may be unless it `may_end` it.
std::string_view FieldOf(std::string_view line, std::string_view key,
                         bool may_end = false) {
  Scan scan(line);
  while (scan.To(key)) {
    if (!scan.Skip("=") && !scan.Skip(": ")) continue;
    const auto number = scan.PrintedNumber();
    const char end = scan.peek();
    const bool whole =
        end == ',' || end == ' ' || end == ']' || (may_end && end == '\0');
    if (number && whole) return number->text;
    return {};
  }
  return {};
}

void SetField(StepField field, std::string_view text, LogFact* fact) {
  const std::optional<double> value = WholeNumber(text);
  if (value) fact->Set(field, *value);
}

class NemoReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (line.find("reduced_train_loss") != std::string_view::npos) {
      ReadFields(line, facts);
      return;
    }
    const size_t at = line.find("Loss is NaN or inf");
    if (at != std::string_view::npos) {
      ReadNotANumber(line, at, facts);
      return;
    }
    ReadOld(line, facts);
  }

 private:
  void ReadFields(std::string_view line, FactList* facts) {
    LogFact fact;
    SetField(StepField::kLoss, FieldOf(line, "reduced_train_loss"), &fact);
    std::optional<double> step = WholeNumber(FieldOf(line, "global_step"));
    if (!step) {
      Scan scan(line);
      if (scan.To("Training epoch ") && scan.To(", iteration ")) {
        step = scan.Number();
      }
    }
    fact.step = AsCount(step);
    if (!fact.step || !fact.has(StepField::kLoss)) return;
    if (*fact.step == step_) return;  // the bar was drawn once more
    step_ = *fact.step;
    SetField(StepField::kGradNorm, FieldOf(line, "grad_norm", true), &fact);
    SetField(StepField::kLearningRate, FieldOf(line, " lr"), &fact);
    SetField(StepField::kConsumedSamples, FieldOf(line, "consumed_samples"),
             &fact);
    std::string_view scale = FieldOf(line, "loss_scale");
    if (scale.empty()) scale = FieldOf(line, "grad_scale");
    if (!scale.empty()) SetScale(scale, ScaleText::kRounded, &fact);
    const auto overflow = WholeNumber(FieldOf(line, "overflow"));
    if (overflow) fact.overflow = *overflow != 0;
    facts->push_back(fact);
  }

  // Every rank says so: once a step line is enough.
  void ReadNotANumber(std::string_view line, size_t at, FactList* facts) {
    const bool own = at == 0 || line.find("[NeMo ") != std::string_view::npos;
    if (!own || lost_) return;
    lost_ = true;
    AddFact(LogFact::Kind::kProgress, at, facts)
        .Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
  }

  // "Step: 25", and on one of the next lines "Train Loss: 6.31".
  void ReadOld(std::string_view line, FactList* facts) {
    if (line.find("[NeMo I ") == std::string_view::npos) return;
    Scan scan(line);
    if (scan.To("] Step: ")) {
      const std::optional<int64_t> step = scan.Integer();
      if (step && scan.done()) pending_ = *step;
      return;
    }
    if (pending_ < 0) return;
    if (!scan.To("Train Loss: ") && !scan.To("] Loss: ")) return;
    const std::optional<double> loss = scan.Number();
    if (!loss) return;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, scan.at(), facts);
    fact.step = std::exchange(pending_, -1);
    fact.Set(StepField::kLoss, *loss);
    lost_ = false;
  }

  int64_t step_ = -1;     // newest that was told
  int64_t pending_ = -1;  // a step whose loss has not come; -1: none
  bool lost_ = false;     // a NaN was told since the newest step line
};

constexpr std::string_view kMarks[] = {"reduced_train_loss", "[NeMo I ",
                                       "Loss is NaN or inf"};

}  // namespace

const LogFormat kNemo = {
    .name = "nemo",
    .title = "NVIDIA NeMo",
    .marks = kMarks,
    .make = Fresh<NemoReader>,
};

}  // namespace nanwatch
