// NVIDIA's DLLogger, with which its BERT, ResNet, Tacotron2, FastPitch and
// others print: a step, then metrics; and the same as JSON in its file. AWS'
// BERT for Trainium prints alike.
//
//  DLL 2020-12-07 20:04:34.092791 - Training Epoch: 0 Training Iteration: 10
//  average_loss : 10.5  step_loss : 10.4  learning_rate : 6e-06
//  DLL 2020-05-28 03:32:54.425004 - (6001, 129) train_loss : 0.28857
//  DLL 2020-03-30 10:41:12.562594 - epoch    1 | iter   1/19 | loss 36.99 | ...
//  DLLL {"timestamp": "1.6e9", ..., "type": "LOG", "step": [0, 10], "data":
//  {"average_loss": 10.5, "learning_rate": 6e-06}}
//  LOG Wed Dec 21 00:12:27 2022 - (0, 14) step_loss : 11.25 ...
//
// BERT tells a scale alone where it skipped an update, the one that it fell to,
// and some of its relatives where it grew; other programs tell their options
// so, before the first step.
//
//  DLL 2020-12-07 20:04:34.092791 - PARAMETER loss_scale : 32768.0

#include <limits>
#include <string_view>
#include <utility>

#include "logs/dict_scan.h"
#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/line_pattern.h"
#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Of losses of one line the one that stands first here is taken: means over
// accumulated batches before that of the last one.
constexpr std::string_view kLosses[] = {"average_loss", "loss",
                                        "train_loss",   "train.loss",
                                        "total_loss",   "step_loss"};
constexpr NamedField kMetrics[] = {
    {"grad_norm", StepField::kGradNorm},
    {"grad-norm", StepField::kGradNorm},
    {"learning_rate", StepField::kLearningRate},
    {"lr", StepField::kLearningRate},
    {"train.lr", StepField::kLearningRate},
};

// What a line says, metric by metric.
class Gathered {
 public:
  void Add(std::string_view name, std::string_view number) {
    if (name == "loss_scale" || name == "loss_scaler") {
      SetScale(number, ScaleText::kExact, &fact_);
      return;
    }
    const std::optional<double> value = WholeNumber(number);
    if (!value) return;
    if (name == "skipped_steps") fact_.skipped_total = AsCount(value);
    for (size_t i = 0; i < std::size(kLosses) && i < loss_; ++i) {
      if (name != kLosses[i]) continue;
      loss_ = i;
      fact_.Set(StepField::kLoss, *value);
    }
    SetNamed(kMetrics, name, *value, &fact_);
  }
  bool has_loss() const { return fact_.has(StepField::kLoss); }
  const LogFact& fact() const { return fact_; }

 private:
  LogFact fact_;
  size_t loss_ = std::numeric_limits<size_t>::max();
};

struct Step {
  int64_t epoch = 0;
  int64_t step = 0;
};

// "(0, 14) " or "[0, 14]": a training's step. Of one number it is an epoch's
// end, of three an evaluation.
std::optional<Step> ReadPair(Scan* scan) {
  if (!scan->Skip("(") && !scan->Skip("[")) return std::nullopt;
  const std::optional<int64_t> epoch = ReadCount(scan);
  if (!epoch || !scan->Skip(",")) return std::nullopt;
  const std::optional<int64_t> step = ReadCount(scan);
  if (!step || (!scan->Skip(")") && !scan->Skip("]"))) return std::nullopt;
  return Step{*epoch, *step};
}

// "Training Epoch: 0 Training Iteration: 10 ", "Epoch: 0 Iteration: 10 ",
// "Iteration: 16 ", "(0, 14) ", "100 ".
std::optional<Step> ReadStep(Scan* scan) {
  if (scan->peek() == '(' || scan->peek() == '[') return ReadPair(scan);
  Step at;
  if (scan->Skip("Training Epoch:") || scan->Skip("Epoch:")) {
    const std::optional<int64_t> epoch = ReadCount(scan);
    if (!epoch || !scan->Skip(" ")) return std::nullopt;
    at.epoch = *epoch;
    if (!scan->Skip("Training Iteration:") && !scan->Skip("Iteration:")) {
      return std::nullopt;
    }
  } else {
    scan->Skip("Iteration:");
  }
  const std::optional<int64_t> step = ReadCount(scan);
  if (!step || !scan->Skip(" ")) return std::nullopt;
  if (scan->rest().starts_with("Validation Iteration:")) return std::nullopt;
  at.step = *step;
  return at;
}

// FastPitch.
constexpr std::string_view kBarsAlso[] = {"lrate {lr}"};
constexpr LinePattern kBars[] = {
    {"epoch {epoch} | iter {batch}/{whole} *| loss {loss} ", kBarsAlso}};

class DlLoggerReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ForEachMessage(line, "DLL 2", [&](std::string_view text, size_t at) {
      ReadMessage(text, at, facts);
    });
    ForEachMessage(line, "DLLL {", [&](std::string_view text, size_t at) {
      // The brace, too.
      ReadJson(line.substr(at + 5, text.size() + 1), at, facts);
    });
    if (line.find(") step_loss : ") == std::string_view::npos) return;
    ForEachMessage(line, "LOG ", [&](std::string_view text, size_t at) {
      ReadMessage(text, at, facts);
    });
  }

 private:
  // Behind the first digit of the time.
  void ReadMessage(std::string_view text, size_t at, FactList* facts) {
    constexpr size_t kTimeMax = 40;
    Scan scan(text);
    if (!scan.To(" - ") || scan.at() > kTimeMax) return;
    if (scan.rest().starts_with("epoch ")) {
      return bars_.Read(scan.rest(), facts);
    }
    if (scan.Skip("PARAMETER loss_scale : ")) {
      const std::optional<Scan::Printed> scale = scan.PrintedNumber();
      if (scale && !scan.done() && TrimBlanks(scan.rest()).empty()) {
        TellScale(scale->text, at, facts);
      }
      return;
    }
    const std::optional<Step> step = ReadStep(&scan);
    if (!step) return;
    Gathered gathered;
    for (size_t name = scan.at(); scan.To(" : "); name = scan.at()) {
      const std::string_view before = text.substr(name, scan.at() - 3 - name);
      const size_t word = before.rfind(' ') + 1;
      const std::optional<Scan::Printed> value = scan.PrintedNumber();
      // One that touches the end may have lost digits.
      if (value && !scan.done()) gathered.Add(before.substr(word), value->text);
    }
    Tell(gathered, *step, at, facts);
  }

  void ReadJson(std::string_view text, size_t at, FactList* facts) {
    DictScan dict(text);
    std::optional<Step> step;
    Gathered gathered;
    std::string_view scale;  // of what stands alone
    bool parameter = false;
    while (dict.Next()) {
      parameter |= dict.key() == "step" && dict.value() == "PARAMETER";
      if (dict.key() == "step" && !dict.quoted()) {
        Scan scan(dict.value());
        const std::optional<int64_t> count = dict.Count();
        if (scan.peek() == '[') {
          step = ReadPair(&scan);
        } else if (count) {
          step = Step{0, *count};
        }
      } else if (dict.key() == "data" && dict.value().starts_with('{')) {
        DictScan data(dict.value());
        for (int i = 0; data.Next(); ++i) {
          gathered.Add(data.key(), data.value());
          const bool alone = i == 0 && data.key() == "loss_scale";
          scale = alone ? data.value() : std::string_view();
        }
      }
    }
    if (dict.whole() && parameter && !scale.empty()) {
      TellScale(scale, at, facts);
    }
    if (dict.whole() && step) Tell(gathered, *step, at, facts);
  }

  // A scale alone: where it fell, an update was skipped.
  void TellScale(std::string_view scale, size_t at, FactList* facts) {
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    SetScale(scale, ScaleText::kExact, &fact);
    if (!fact.has(StepField::kLossScale)) return;
    const bool training = epoch_ >= 0;
    // One alone above the first step is an option.
    const bool option = !training && !std::exchange(option_, true);
    const double now = option ? 0 : fact[StepField::kLossScale];
    const double before = std::exchange(scale_, now);
    const bool grew = before > 0 && scale_ > before;
    fact.kind = LogFact::Kind::kOverflow;
    fact.applied = false;
    if (training && !grew) facts->push_back(fact);
  }

  void Tell(const Gathered& gathered, Step at_step, size_t at,
            FactList* facts) {
    if (!gathered.has_loss()) return;
    // BERT counts its steps on from epoch to epoch, others begin anew.
    if (at_step.epoch > epoch_ && epoch_ >= 0 && at_step.step > step_) {
      goes_on_ = true;
    }
    epoch_ = at_step.epoch;
    step_ = at_step.step;
    LogFact fact = gathered.fact();
    fact.at = static_cast<uint32_t>(at);
    fact.step =
        goes_on_ ? at_step.step : epochs_.Step(at_step.epoch, at_step.step);
    facts->push_back(fact);
  }

  PatternReader bars_{kBars, {.epochs = PatternHabits::Epochs::kFromOne}};
  EpochSteps epochs_;
  bool goes_on_ = false;  // steps do not begin anew in an epoch
  int64_t epoch_ = -1;    // of the newest line
  int64_t step_ = 0;
  double scale_ = 0;     // the newest that stood alone; 0: none
  bool option_ = false;  // one stood above the first step
};

constexpr std::string_view kMarks[] = {"DLL ", "DLLL {", ") step_loss : "};

}  // namespace

const LogFormat kDlLogger = {
    .name = "dllogger",
    .title = "NVIDIA DLLogger (BERT, ResNet, FastPitch, ...), AWS' BERT",
    .marks = kMarks,
    .make = Fresh<DlLoggerReader>,
};

}  // namespace nanwatch
