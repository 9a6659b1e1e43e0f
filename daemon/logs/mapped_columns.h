// MappedColumns: which columns that the user named a log has.

#ifndef NANWATCH_LOGS_MAPPED_COLUMNS_H_
#define NANWATCH_LOGS_MAPPED_COLUMNS_H_

#include <string>
#include <utility>
#include <vector>

#include "logs/column_names.h"
#include "logs/fact.h"
#include "logs/format.h"

namespace nanwatch {

class MappedColumns {
 public:
  explicit MappedColumns(const ColumnMap& map);
  // A fact that the log's lines told. A field that the map names is in its
  // column and in no other: the field is told, so the column is there.
  void Note(const LogFact& fact) {
    if (!missing_.empty()) Find(fact);
  }
  // Returns those that no step line had a number of, as they were given:
  // "loss=train/loss".
  std::vector<std::string> Missing() const;

 private:
  void Find(const LogFact& fact);

  std::vector<std::pair<ColumnMeaning, std::string>> missing_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MAPPED_COLUMNS_H_
