// TableHeader: what the columns of a table are, by its header.

#ifndef NANWATCH_LOGS_TABLE_HEADER_H_
#define NANWATCH_LOGS_TABLE_HEADER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_names.h"

namespace nanwatch {

struct TableHeader {
  static constexpr size_t kNone = std::string_view::npos;
  using Named = std::pair<size_t, std::string>;  // a column and its name

  std::vector<ColumnMeaning> columns;
  std::vector<Named> terms;   // losses that are parts of one
  bool adds_up = false;       // their sum is a row's loss
  bool of_policy = false;     // the same (IsOfPolicy)
  std::vector<Named> scales;  // of no known meaning, that may be one
  size_t epoch = kNone;       // its column
  size_t evaluation = kNone;  // the column of an evaluation's loss
  std::string evaluation_name;
  size_t accuracy = kNone;  // the column of an evaluation's
  bool alone = false;       // no other column is a loss
  bool lossless = false;    // and that is none, either
  // "train,val": sets of data, and it does not say of what the numbers are.
  bool of_sets = false;
  // "metric,step,value", as MLflow's: a row a number, by the name in it.
  size_t metric = kNone;
  size_t value = kNone;
};

// Reads the names of a header. nullopt: it is none, or says too little.
// `index`: a column before the others may have no name, as pandas writes its
// rows' numbers.
std::optional<TableHeader> ReadTableHeader(
    const std::vector<std::string_view>& names, bool index,
    ColumnNames* meanings);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TABLE_HEADER_H_
