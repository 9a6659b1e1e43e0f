#include "logs/column_names.h"

#include <algorithm>

#include "logs/one_of.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

using Meaning = ColumnMeaning;

// For --map; the first of a meaning is the one that help shows.
constexpr NamedMeaning kFields[] = {
    {"step", Meaning::kStep},
    {"loss", Meaning::kLoss},
    {"objective", Meaning::kObjective},
    {"scale", Meaning::kLossScale},
    {"loss_scale", Meaning::kLossScale},
    {"log2_scale", Meaning::kLog2LossScale},
    {"grad_norm", Meaning::kGradNorm},
    {"update_norm", Meaning::kUpdateNorm},
    {"param_norm", Meaning::kParamNorm},
    {"lr", Meaning::kLearningRate},
    {"learning_rate", Meaning::kLearningRate},
    {"consumed_samples", Meaning::kConsumedSamples},
    {"overflow", Meaning::kOverflow},
    {"skipped", Meaning::kSkipped},
    {"skipped_total", Meaning::kSkippedTotal},
    {"rank", Meaning::kRank},
};

constexpr size_t kNameMax = 256;  // bytes of a column's name; ours

}  // namespace

bool NamesCrossEntropy(std::string_view name) {
  return UsualMeaning(name) == Meaning::kCrossEntropy;
}

std::string ColumnFieldNames() {
  std::string names;
  for (const NamedMeaning& field : kFields) {
    if (!names.empty()) names += ", ";
    names += field.text;
  }
  return names;
}

Result<ColumnMap> ParseColumnMap(const std::vector<std::string>& pairs) {
  ColumnMap map;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    const std::string field = pair.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == pair.size()) {
      return Error{"--map " + pair +
                   ": not FIELD=COLUMN, e.g. loss=train/loss; fields are " +
                   ColumnFieldNames()};
    }
    if (MeaningOfField(field) == Meaning::kNothing) {
      return Error{"--map " + pair + ": there is no field " + field +
                   "; fields are " + ColumnFieldNames()};
    }
    map.columns.emplace_back(field, pair.substr(equals + 1));
  }
  return map;
}

ColumnMeaning MeaningOfField(std::string_view field) {
  const auto found = std::find_if(
      std::begin(kFields), std::end(kFields),
      [field](const NamedMeaning& name) { return name.text == field; });
  return found == std::end(kFields) ? Meaning::kNothing : found->meaning;
}

StepField FieldOf(ColumnMeaning meaning) {
  switch (meaning) {
    case Meaning::kLossScale:
    case Meaning::kLog2LossScale:
      return StepField::kLossScale;
    case Meaning::kGradNorm:
      return StepField::kGradNorm;
    case Meaning::kUpdateNorm:
      return StepField::kUpdateNorm;
    case Meaning::kParamNorm:
      return StepField::kParamNorm;
    case Meaning::kLearningRate:
      return StepField::kLearningRate;
    case Meaning::kConsumedSamples:
      return StepField::kConsumedSamples;
    default:
      return StepField::kLoss;
  }
}

bool IsEpochColumn(std::string_view name) {
  name.remove_prefix(std::max(name.rfind('/') + 1, name.rfind('.') + 1));
  static constexpr std::string_view kNames[] = {
      "epoch", "Epoch", "Epoche", "époque", "Époque", "época", "epoca"};
  return IsOneOf(name, kNames);
}

bool Shows(const LogFact& fact, ColumnMeaning meaning) {
  switch (meaning) {
    case Meaning::kNothing:
      return false;
    case Meaning::kStep:
    case Meaning::kCounter:
      return fact.step.has_value();
    case Meaning::kOverflow:
      return fact.overflow.has_value();
    case Meaning::kSkipped:
      return fact.overflow || fact.skipped_since || fact.skipped_total;
    case Meaning::kSkippedTotal:
      return fact.skipped_total.has_value();
    case Meaning::kRank:
      return fact.rank.has_value();
    default:
      return fact.has(FieldOf(meaning));
  }
}

ColumnNames::ColumnNames(const ColumnMap& map) {
  for (const auto& [field, column] : map.columns) {
    mapped_.emplace_back(column, MeaningOfField(field));
  }
}

ColumnMeaning ColumnNames::Find(std::string_view name) const {
  for (const auto& [column, meaning] : mapped_) {
    if (column == name) return meaning;
  }
  const Meaning found = UsualMeaning(name);
  const bool elsewhere =
      std::any_of(mapped_.begin(), mapped_.end(), [found](const auto& mapped) {
        return mapped.second == found ||
               (mapped.second == Meaning::kLoss &&
                (found == Meaning::kAdversaryLoss ||
                 found == Meaning::kCrossEntropy)) ||
               (FieldOf(mapped.second) == StepField::kLossScale &&
                FieldOf(found) == StepField::kLossScale);
      });
  return elsewhere ? Meaning::kNothing : found;
}

bool ColumnNames::MayEnd(std::string_view text) const {
  return !mapped_.empty() || MayBeUsual(text);
}

ColumnMeaning ColumnNames::Of(std::string_view name) {
  if (name.empty() || name.size() > kNameMax) return Meaning::kNothing;
  if (!MayEnd(name)) return Meaning::kNothing;
  Known& known = lately_[HashOfName(name) % lately_.size()];
  if (!known.used || known.name != name) {
    known.name = name;
    known.meaning = Find(name);
    known.used = true;
  }
  return known.meaning;
}

}  // namespace nanwatch
