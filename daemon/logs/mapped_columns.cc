#include "logs/mapped_columns.h"

namespace nanwatch {

MappedColumns::MappedColumns(const ColumnMap& map) {
  for (const auto& [field, column] : map.columns) {
    missing_.emplace_back(MeaningOfField(field), field + "=" + column);
  }
}

void MappedColumns::Find(const LogFact& fact) {
  if (fact.kind != LogFact::Kind::kProgress || fact.beside) return;
  std::erase_if(missing_, [&fact](const auto& column) {
    return Shows(fact, column.first);
  });
}

std::vector<std::string> MappedColumns::Missing() const {
  std::vector<std::string> texts;
  for (const auto& [meaning, text] : missing_) texts.push_back(text);
  return texts;
}

}  // namespace nanwatch
