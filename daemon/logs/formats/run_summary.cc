// The summary that a tracker prints at a run's end, where the log holds nothing
// else: the first one, a loss that is not finite there, or a later run's behind
// such a one. Finite ones of several runs are no course.
//
// wandb: Run summary:
// wandb:  train/global_step 4412
// wandb:         train/loss nan
//
// COMET INFO:   Metrics [count] (min, max):
// COMET INFO:     train/loss [600]      : (nan, nan)

#include <climits>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kWandb = "wandb:";
constexpr std::string_view kComet = "COMET INFO:";
// Losses of other steps.
constexpr std::string_view kOthers[] = {"best", "min", "lowest", "first"};

struct Named {
  std::string_view name;
  double value = 0;
};

// "  train/loss nan".
std::optional<Named> ReadWandb(std::string_view text) {
  text = TrimBlanks(text);
  const size_t blank = text.find(' ');
  if (blank == text.npos) return std::nullopt;
  const std::optional<double> value = WholeNumber(text.substr(blank));
  if (!value) return std::nullopt;
  return Named{text.substr(0, blank), *value};
}

// "  train/loss [600]  : (nan, nan)": the least, since one that was infinite
// once says little.
std::optional<Named> ReadComet(std::string_view text) {
  text = TrimBlanks(text);
  const size_t sign = text.rfind(" : (");
  const size_t count = text.find(" [");
  if (sign == text.npos || count >= sign || !text.ends_with(')')) {
    return std::nullopt;
  }
  const size_t begin = sign + 4;
  const size_t comma = text.find(", ", begin);
  if (comma == text.npos) return std::nullopt;
  const auto value = WholeNumber(text.substr(begin, comma - begin));
  if (!value) return std::nullopt;
  return Named{text.substr(0, count), *value};
}

class RunSummaryReader : public LineReader {
 public:
  explicit RunSummaryReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    const size_t wandb = line.find(kWandb);
    const size_t comet = wandb == line.npos ? line.find(kComet) : line.npos;
    const bool is_wandb = comet == line.npos;
    if (is_wandb && wandb == line.npos) return;
    const std::string_view text = is_wandb ? line.substr(wandb + kWandb.size())
                                           : line.substr(comet + kComet.size());
    const bool opens = text.find("Run summary:") != text.npos ||
                       text.find("Metrics [count] (min, max)") != text.npos;
    if (opens || text.find("Run history:") != text.npos) {
      summary_ = opens;
      step_.reset();
      told_ = false;
      bad_parts_ = 0;
      return;
    }
    if (!summary_) return;
    const std::optional<Named> number =
        is_wandb ? ReadWandb(text) : ReadComet(text);
    if (number) return Take(*number, facts);
    // The summary ends, and showed no whole loss.
    if (bad_parts_ > 1) Tell(std::nan(""), facts);
  }

 private:
  void Take(const Named& number, FactList* facts) {
    const ColumnMeaning meaning = names_.Of(number.name);
    if (meaning == ColumnMeaning::kStep) step_ = AsCount(number.value);
    const bool other =
        IsEvaluation(number.name) || HasOneOf(LowerCase(number.name), kOthers);
    if (!number.name.ends_with("loss") || other) return;
    const bool bad = !std::isfinite(number.value);
    // One that is not used may be a part of a loss that is finite.
    if (!bad) bad_parts_ = INT_MIN;
    if (IsLoss(meaning)) {
      if (bad || bad_seen_ || !any_) Tell(number.value, facts);
    } else if (bad) {
      ++bad_parts_;
    }
  }

  void Tell(double loss, FactList* facts) {
    if (std::exchange(told_, true)) return;
    any_ = true;
    bad_seen_ |= !std::isfinite(loss);
    LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
    fact.step = step_;
    fact.Set(StepField::kLoss, loss);
  }

  ColumnNames names_;
  bool summary_ = false;         // the lines are a summary's
  std::optional<int64_t> step_;  // of the summary
  bool told_ = false;            // its loss
  int bad_parts_ = 0;            // of its loss; negative: one is finite
  bool any_ = false;             // that of any summary
  bool bad_seen_ = false;        // a loss that is not finite was told
};

constexpr std::string_view kMarks[] = {kWandb, kComet};

}  // namespace

const LogFormat kRunSummary = {
    .name = "run_summary",
    .title = "W&B's or Comet's summary, where the log holds nothing else",
    .part = LogFormat::Part::kGeneric,
    .last_resort = true,
    .marks = kMarks,
    .make = Fresh<RunSummaryReader>,
};

}  // namespace nanwatch
