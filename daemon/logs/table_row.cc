#include "logs/table_row.h"

#include "logs/scan.h"

namespace nanwatch {

bool TableRow::Split(std::string_view line, char separator) {
  cells_.clear();
  size_t at = 0;
  while (true) {
    size_t begin = at;
    while (begin < line.size() && line[begin] == ' ') ++begin;
    if (begin < line.size() && line[begin] == '"') {
      size_t end = line.find('"', begin + 1);
      while (end != std::string_view::npos && end + 1 < line.size() &&
             line[end + 1] == '"') {
        end = line.find('"', end + 2);
      }
      if (end == std::string_view::npos) return false;
      cells_.push_back(line.substr(begin + 1, end - begin - 1));
      at = line.find(separator, end);
    } else {
      const size_t end = line.find(separator, at);
      cells_.push_back(TrimBlanks(line.substr(at, end - at)));
      at = end;
    }
    if (at == std::string_view::npos) return true;
    ++at;
  }
}

char SeparatorOf(std::string_view header) {
  if (header.find('\t') != std::string_view::npos) return '\t';
  const bool semicolons = header.find(',') == std::string_view::npos &&
                          header.find(';') != std::string_view::npos;
  return semicolons ? ';' : ',';
}

}  // namespace nanwatch
