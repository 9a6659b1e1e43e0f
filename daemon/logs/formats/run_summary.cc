// The summary that a tracker prints at a run's end, where the log holds nothing
// else: a loss that is not finite there, or a later run's behind such a one. A
// finite one says too little to be judged.
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

#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kWandb = "wandb:";
constexpr std::string_view kComet = "COMET INFO:";

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

// "  train/loss [600]  : (nan, nan)": the greatest.
std::optional<Named> ReadComet(std::string_view text) {
  text = TrimBlanks(text);
  const size_t sign = text.rfind(" : (");
  const size_t count = text.find(" [");
  if (sign == text.npos || count >= sign || !text.ends_with(')')) {
    return std::nullopt;
  }
  const size_t comma = text.find(", ", sign);
  if (comma == text.npos) return std::nullopt;
  const std::string_view most = text.substr(comma + 2);
  const std::optional<double> value =
      WholeNumber(most.substr(0, most.size() - 1));
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
    if (number) Take(*number, facts);
  }

 private:
  void Take(const Named& number, FactList* facts) {
    const ColumnMeaning meaning = names_.Of(number.name);
    if (meaning == ColumnMeaning::kStep) step_ = AsCount(number.value);
    if (!number.name.ends_with("loss") || IsEvaluation(number.name)) return;
    const bool bad = !std::isfinite(number.value);
    // One that is not used may be a part of a loss that is finite.
    if (!IsLoss(meaning)) bad_parts_ = bad ? bad_parts_ + 1 : INT_MIN;
    const bool whole = IsLoss(meaning) || bad_parts_ > 1;
    if (!whole || told_ || (!bad && !bad_seen_)) return;
    bad_seen_ |= bad;
    told_ = true;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
    fact.step = step_;
    fact.Set(StepField::kLoss, number.value);
  }

  ColumnNames names_;
  bool summary_ = false;         // the lines are a summary's
  std::optional<int64_t> step_;  // of the summary
  bool told_ = false;            // its loss
  int bad_parts_ = 0;            // of its loss; negative: one is finite
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
