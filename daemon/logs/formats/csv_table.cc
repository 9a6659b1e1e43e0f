// Logs of no known program: a table with a header, as CSV or tab-separated.
// Empty cells are absent.
//
//  step,train/loss,"loss scale",grad_norm
//  10,2.31,65536,0.71

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/scan.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

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
    if (fact_.SaysHealth()) fact_.Tell(facts);
  }

 private:
  void TakeHeader(std::string_view line) {
    const char separator = SeparatorOf(line);
    if (!row_.Split(line, separator) || row_.cells().size() < 2) return;
    std::vector<ColumnMeaning> columns;
    int known = 0;
    size_t epoch = std::string_view::npos;
    for (const std::string_view cell : row_.cells()) {
      if (WholeNumber(cell)) return;
      columns.push_back(names_.Of(cell));
      if (columns.back() != ColumnMeaning::kNothing) {
        ++known;
      } else if (IsEpochColumn(cell)) {
        epoch = columns.size() - 1;
      }
    }
    // An epoch is a name as good as others.
    if (epoch < columns.size() && known > 0) ++known;
    if (known < (names_.mapped() ? 1 : 2)) return;
    columns_ = std::move(columns);
    epoch_ = epoch;
    separator_ = separator;
    header_ = line;
  }

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kRounded};
  TableRow row_;
  std::vector<ColumnMeaning> columns_;     // empty: no header yet
  size_t epoch_ = std::string_view::npos;  // its column; npos: none
  std::string header_;
  char separator_ = ',';
};

std::unique_ptr<LineReader> Make(const ColumnMap& map) {
  return std::make_unique<CsvTableReader>(map);
}

constexpr std::string_view kMarks[] = {",", "\t", ";"};

}  // namespace

const LogFormat kCsvTable = {
    .name = "csv",
    .title = "any program: a table with a header, CSV or tab-separated",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
