// ColumnNames: what a name that somebody chose for a number means. Logs of no
// known program name their columns themselves: "loss", "train/loss",
// "Train/Samples/train_loss", "lm-loss-training/lm loss".

#ifndef NANWATCH_LOGS_COLUMN_NAMES_H_
#define NANWATCH_LOGS_COLUMN_NAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "logs/epoch_steps.h"
#include "logs/fact.h"
#include "logs/format.h"
#include "logs/printed_scale.h"

namespace nanwatch {

enum class ColumnMeaning : uint8_t {
  kNothing,
  kStep,
  kLoss,
  kLossScale,
  kLog2LossScale,
  kGradNorm,
  kUpdateNorm,
  kParamNorm,
  kLearningRate,
  kConsumedSamples,
  kOverflow,      // true, false or a number that is not 0
  kSkipped,       // the same, or a count
  kSkippedTotal,  // since the start
  kRank,
};

// "loss=train/loss" and its like, one string each. The error says which field
// names there are.
Result<ColumnMap> ParseColumnMap(const std::vector<std::string>& pairs);
// The field names of a ColumnMap, for help: "step, loss, scale, ...".
std::string ColumnFieldNames();

// Whether a column counts epochs: "epoch", "train/epoch".
bool IsEpochColumn(std::string_view name);
// Of a field's name in a ColumnMap; kNothing: there is no such field.
ColumnMeaning MeaningOfField(std::string_view field);
// Whether `fact` holds a number (or truth) of that meaning.
bool Shows(const LogFact& fact, ColumnMeaning meaning);

// A hash of a name's size and of a few of its letters, which tell most names
// apart. The same in every run.
inline size_t HashOfName(std::string_view name) {
  size_t hash = name.size();
  if (name.empty()) return hash;
  for (const size_t at : {size_t{0}, name.size() / 2, name.size() - 1}) {
    hash = hash * 31 + static_cast<uint8_t>(name[at]);
  }
  return hash;
}

class ColumnNames {
 public:
  // A field that `map` names is in that column and in no other; fields that it
  // does not name are found by their usual names.
  explicit ColumnNames(const ColumnMap& map);
  // Cheap for names that were asked for lately.
  ColumnMeaning Of(std::string_view name);
  // False: nothing that ends like `text` means anything. Cheaper than Of().
  bool MayEnd(std::string_view text) const;
  bool mapped() const { return !mapped_.empty(); }

 private:
  struct Known {
    std::string name;
    ColumnMeaning meaning = ColumnMeaning::kNothing;
    bool used = false;
  };
  ColumnMeaning Find(std::string_view name) const;

  std::vector<std::pair<std::string, ColumnMeaning>> mapped_;
  std::array<Known, 256> lately_;
};

// The numbers of one line or row, gathered to a step's fact. Of two columns
// that mean the same the first counts.
class ColumnFact {
 public:
  explicit ColumnFact(ScaleText scales) : scales_(scales) {}

  void Begin(size_t at);
  // `text`: the number as it stands there; no number is absent. `ends_line`:
  // it touches the line's end, and a scale that lacks digits of the one
  // expected was cut there.
  void Add(ColumnMeaning meaning, std::string_view text,
           bool ends_line = false);
  void AddNumber(ColumnMeaning meaning, double value);
  // The line's epoch, of which a part may be over ("epoch": 1.37): where steps
  // begin anew in each, Tell() tells the run's.
  void SetEpoch(double epoch);
  bool has_step() const { return fact_.step.has_value(); }
  // Says something of the numerics: loss, scale, norm or overflow.
  bool SaysHealth() const;
  // The same, and with a step or a second number: more than prose that
  // happens to hold "loss: 3".
  bool LooksLikeStep() const;
  // Appends what was gathered.
  void Tell(FactList* facts);
  const LogFact& fact() const { return fact_; }

 private:
  void AddSkipped(double value);
  bool IsCut(std::string_view scale);

  const ScaleText scales_;
  LogFact fact_;
  std::optional<int64_t> epoch_;
  SeenEpochSteps steps_;
  int numbers_ = 0;
  // "skipped" as a number is a count since the start, until it goes down: then
  // it is of each line.
  double skipped_before_ = 0;
  bool skipped_of_line_ = false;
  double scale_before_ = 0;  // of the newest fact that had one
  std::string cut_;          // the scale of the line before, if it was cut
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COLUMN_NAMES_H_
