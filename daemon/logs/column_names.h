// ColumnNames: what a name that somebody chose for a number means. Logs of no
// known program name their columns themselves: "loss", "train/loss",
// "Train/Samples/train_loss", "lm-loss-training/lm loss".

#ifndef NANWATCH_LOGS_COLUMN_NAMES_H_
#define NANWATCH_LOGS_COLUMN_NAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "logs/column_meaning.h"
#include "logs/fact.h"
#include "logs/format.h"

namespace nanwatch {

// "loss=train/loss" and its like, one string each. The error says which field
// names there are.
Result<ColumnMap> ParseColumnMap(const std::vector<std::string>& pairs);
// The field names of a ColumnMap, for help: "step, loss, scale, ...".
std::string ColumnFieldNames();

// The number of a step that a meaning is of; one that is of none: kLoss.
StepField FieldOf(ColumnMeaning meaning);
// Whether a name is a training's cross-entropy: "train/ce_loss".
bool NamesCrossEntropy(std::string_view name);
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
  // Columns and what the map says of them.
  const std::vector<std::pair<std::string, ColumnMeaning>>& map() const {
    return mapped_;
  }

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

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COLUMN_NAMES_H_
