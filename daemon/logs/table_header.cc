#include "logs/table_header.h"

#include <algorithm>

#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/one_of.h"
#include "logs/scale_by_value.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

using Meaning = ColumnMeaning;
constexpr size_t kNone = TableHeader::kNone;

bool IsBatch(std::string_view name) {
  return name == "Batch" || name == "batch" || name == "batch_idx" ||
         name == "Batch/It" || name == "Batch/Iter";
}

// "losses", "accuracies", "rewards": a column holds many.
std::string Singular(std::string_view name) {
  const auto without = [name](size_t end) {
    return std::string(name.substr(0, name.size() - end));
  };
  if (name.size() < 4 || !name.ends_with('s') || name.ends_with("ss")) {
    return std::string(name);
  }
  if (name.ends_with("ies")) return without(3).append("y");
  return without(name.ends_with("sses") ? 2 : 1);
}

Meaning MeaningOf(std::string_view name, ColumnNames* meanings) {
  Meaning meaning = meanings->Of(name);
  if (meaning == Meaning::kNothing) meaning = ForeignMeaning(name);
  if (meaning == Meaning::kNothing) meaning = meanings->Of(Singular(name));
  return meaning;
}

// Returns the first column of an evaluation's losses.
size_t FindEvaluation(const std::vector<std::string_view>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const bool known = UsualMeaning(names[i]) != Meaning::kNothing;
    if (!known && EvaluationMeaning(Singular(names[i])) != Meaning::kNothing) {
      return i;
    }
  }
  return kNone;
}

size_t Find(const std::vector<std::string_view>& names,
            std::span<const std::string_view> wanted) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (IsOneOf(LowerCase(names[i]), wanted)) return i;
  }
  return kNone;
}

// Takes the column of a set of data for the loss, where that of an evaluation's
// stands beside it, and none says what is measured.
void FindSets(const std::vector<std::string_view>& names, TableHeader* header) {
  static constexpr std::string_view kTrain[] = {"train", "training", "trn"};
  static constexpr std::string_view kOthers[] = {"val",  "valid", "validation",
                                                 "test", "eval",  "dev"};
  const size_t train = Find(names, kTrain);
  const size_t other = Find(names, kOthers);
  if (train == kNone || other == kNone) return;
  header->columns[train] = Meaning::kLoss;
  header->evaluation = other;
  header->of_sets = true;
}

void FindMetrics(const std::vector<std::string_view>& names,
                 TableHeader* header) {
  static constexpr std::string_view kMetric[] = {"metric", "tag", "key"};
  static constexpr std::string_view kValue[] = {"value"};
  const size_t metric = Find(names, kMetric);
  const size_t value = Find(names, kValue);
  if (metric == kNone || value == kNone) return;
  header->metric = metric;
  header->value = value;
}

// Steps where no column is called so: those of an epoch, "Batch/It", or the
// numbers of rows, which are epochs where each has an evaluation.
void FindSteps(const std::vector<std::string_view>& names, bool index,
               TableHeader* header) {
  const auto is_step = [](Meaning meaning) {
    return meaning == Meaning::kStep || meaning == Meaning::kCounter;
  };
  if (std::ranges::find(header->columns, Meaning::kStep) ==
      header->columns.end()) {
    for (size_t i = 0; i < names.size(); ++i) {
      const bool batch = header->epoch != kNone && IsBatch(names[i]);
      if (batch) header->columns[i] = Meaning::kStep;
    }
  }
  const bool placed =
      header->epoch != kNone || std::ranges::any_of(header->columns, is_step);
  if (!index || placed) return;
  if (header->evaluation == kNone) {
    header->columns[0] = Meaning::kStep;
  } else {
    header->epoch = 0;
  }
}

bool IsEvaluationsLoss(std::string_view name) {
  const std::string one = Singular(name);
  return (one.ends_with("oss") || one.ends_with("mse")) && IsEvaluation(one);
}

// One is what a generator's rival makes, "adv_loss": their sum has no level,
// and names no table alone.
bool HasRival(const std::vector<TableHeader::Named>& terms) {
  static constexpr std::string_view kOf[] = {"adv", "gan"};
  return std::ranges::any_of(terms, [](const TableHeader::Named& term) {
    return HasOneOf(LowerCase(term.second), kOf);
  });
}

// Finds what the columns are, one by one. Returns how many are known, or -1:
// a name is a number.
int FindColumns(const std::vector<std::string_view>& names,
                ColumnNames* meanings, TableHeader* header) {
  int known = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (WholeNumber(name)) return -1;
    const Meaning meaning = MeaningOf(name, meanings);
    header->columns.push_back(meaning);
    const bool term =
        meaning == Meaning::kNothing || meaning == Meaning::kCrossEntropy;
    if (term && IsPartOfLoss(Singular(name))) {
      header->terms.emplace_back(i, name);
      header->of_policy |= IsOfPolicy(name);
    }
    if (header->evaluation == kNone && IsEvaluationsLoss(name)) {
      header->evaluation = i;
    }
    if (meaning != Meaning::kNothing) {
      ++known;
    } else if (IsEpochColumn(name) || IsEpochColumn(Singular(name))) {
      header->epoch = i;
    } else if (!meanings->mapped() && ScaleByValue::MayBe(name)) {
      header->scales.emplace_back(i, name);
    }
  }
  return known;
}

}  // namespace

std::optional<TableHeader> ReadTableHeader(
    const std::vector<std::string_view>& names, bool index,
    ColumnNames* meanings) {
  TableHeader header;
  int known = FindColumns(names, meanings, &header);
  if (known < 0) return std::nullopt;
  // One stands for the loss where no other does: "td_loss".
  const size_t parts = header.terms.size();
  const bool whole = std::ranges::any_of(header.columns, IsAnyLoss);
  header.adds_up = parts > 1 || (parts == 1 && !whole);
  header.alone = !whole && !header.adds_up && !meanings->mapped();
  if (header.alone && header.evaluation == kNone) {
    header.evaluation = FindEvaluation(names);
  }
  if (header.alone && header.evaluation == kNone) {
    FindSets(names, &header);
    header.alone = false;
    header.lossless = !header.of_sets;
    if (header.lossless) FindMetrics(names, &header);
  }
  if (header.alone || header.adds_up) {
    known += parts > 1 && !HasRival(header.terms) ? 2 : 1;
  }
  if (header.of_sets || header.metric != kNone) known += 2;
  index = index && (names[0].empty() || names[0] == "Unnamed: 0");
  FindSteps(names, index, &header);
  // What counts rows is a name as good as others.
  if ((header.epoch != kNone || index) && known > 0) ++known;
  if (known < (meanings->mapped() ? 1 : 2)) return std::nullopt;
  if (header.evaluation != kNone) {
    header.evaluation_name = names[header.evaluation];
  }
  header.accuracy = static_cast<size_t>(
      std::ranges::find_if(names, IsEvaluatedAccuracy) - names.begin());
  return header;
}

}  // namespace nanwatch
