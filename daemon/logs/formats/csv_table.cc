// Logs of no known program: a table with a header, as CSV or tab-separated.
// Empty cells are absent.
//
//  step,train/loss,"loss scale",grad_norm
//  10,2.31,65536,0.71
//
//  Step | Training Loss | reward
//  -- | -- | --
//  1 | -0.283600 | 13.437500
//
//  epoch     train_loss  valid_loss  time
//  0         0.800000    0.820000    00:42

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/loss_parts.h"
#include "logs/scan.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

bool IsBatch(std::string_view name) {
  return name == "Batch" || name == "batch" || name == "batch_idx" ||
         name == "Batch/It" || name == "Batch/Iter";
}

class CsvTableReader : public LineReader {
 public:
  explicit CsvTableReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    if (columns_.empty() || line == header_) {
      TakeHeader(line);
      return;
    }
    // Other lines between, another table, or a torn row.
    if (!row_.Split(line, separator_) ||
        row_.cells().size() != columns_.size()) {
      TakeHeader(line);
      return;
    }
    fact_.Begin(0);
    for (size_t i = 0; i < columns_.size(); ++i) {
      fact_.Add(columns_[i], row_.cells()[i], i + 1 == columns_.size());
    }
    if (epoch_ < columns_.size()) {
      const std::optional<double> epoch = WholeNumber(row_.cells()[epoch_]);
      if (epoch) fact_.SetEpoch(*epoch);
    }
    AddParts();
    if (!fact_.SaysHealth()) return;
    fact_.Tell(facts);
    if (in_text_) HoldRows(facts);
  }

 private:
  // A text's table shows a few results; that of a log goes on.
  void HoldRows(FactList* facts) {
    held_.insert(held_.end(), facts->begin(), facts->end());
    facts->clear();
    if (held_.size() < kRowsOfText) return;
    std::swap(*facts, held_);
    in_text_ = false;
  }

  void AddParts() {
    const bool whole =
        fact_.fact().has(StepField::kLoss) && !fact_.fact().cross_entropy;
    if (parts_.empty() || whole) return;
    double sum = 0;
    for (const size_t part : parts_) {
      const std::optional<double> loss = WholeNumber(row_.cells()[part]);
      if (!loss) return;
      sum += *loss;
    }
    fact_.AddNumber(ColumnMeaning::kLoss, sum);
  }

  void TakeHeader(std::string_view line) {
    const char separator = SeparatorOf(line);
    if (!row_.Split(line, separator) || row_.cells().size() < 2) return;
    std::vector<ColumnMeaning> columns;
    std::vector<size_t> parts;
    int known = 0;
    size_t epoch = std::string_view::npos;
    for (const std::string_view cell : row_.cells()) {
      if (WholeNumber(cell)) return;
      const ColumnMeaning meaning = names_.Of(cell);
      columns.push_back(meaning);
      const bool term = meaning == ColumnMeaning::kNothing ||
                        meaning == ColumnMeaning::kCrossEntropy;
      if (term && IsPartOfLoss(cell)) parts.push_back(columns.size() - 1);
      if (meaning != ColumnMeaning::kNothing) {
        ++known;
      } else if (IsEpochColumn(cell)) {
        epoch = columns.size() - 1;
      }
    }
    // Steps of an epoch, where no others are: "Batch/It".
    const bool stepped = std::find(columns.begin(), columns.end(),
                                   ColumnMeaning::kStep) != columns.end();
    for (size_t i = 0; i < columns.size() && !stepped; ++i) {
      const bool batch = epoch < columns.size() && IsBatch(row_.cells()[i]);
      if (batch) columns[i] = ColumnMeaning::kStep;
    }
    // One stands for the loss where no other does: "td_loss".
    const bool whole =
        std::any_of(columns.begin(), columns.end(), [](ColumnMeaning meaning) {
          return IsLoss(meaning) || meaning == ColumnMeaning::kAdversaryLoss ||
                 meaning == ColumnMeaning::kGeneratorLoss;
        });
    if (parts.size() < 2 && whole) parts.clear();
    if (!parts.empty()) ++known;
    // An epoch is a name as good as others.
    if (epoch < columns.size() && known > 0) ++known;
    if (known < (names_.mapped() ? 1 : 2)) return;
    columns_ = std::move(columns);
    parts_ = std::move(parts);
    epoch_ = epoch;
    separator_ = separator;
    header_ = line;
    in_text_ = line.starts_with('|');
    held_.clear();
  }

  // Rows of a table with bars around it that are no log yet; ours.
  static constexpr size_t kRowsOfText = 12;

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kRounded};
  TableRow row_;
  std::vector<ColumnMeaning> columns_;     // empty: no header yet
  std::vector<size_t> parts_;              // columns of losses to be summed
  size_t epoch_ = std::string_view::npos;  // its column; npos: none
  std::string header_;
  bool in_text_ = false;  // bars stand around the table, as in Markdown
  FactList held_;         // of its first rows
  char separator_ = ',';
};

std::unique_ptr<LineReader> Make(const ColumnMap& map) {
  return std::make_unique<CsvTableReader>(map);
}

constexpr std::string_view kMarks[] = {",", "\t", ";", "| ", "  "};

}  // namespace

const LogFormat kCsvTable = {
    .name = "csv",
    .title =
        "any program: a table with a header, its columns separated by "
        "commas, tabs, semicolons, bars or blanks",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
