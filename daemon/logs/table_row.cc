#include "logs/table_row.h"

#include <algorithm>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// Words, and at least two blanks between them.
bool IsInColumns(std::string_view header) {
  const std::string_view text = TrimBlanks(header);
  if (text.find("  ") == std::string_view::npos) return false;
  for (size_t at = text.find(' '); at != std::string_view::npos;
       at = text.find(' ', text.find_first_not_of(' ', at))) {
    if (text[at + 1] != ' ') return false;
  }
  return text.find_first_of(",;|:=") == std::string_view::npos;
}

}  // namespace

bool TableRow::Split(std::string_view line, char separator) {
  cells_.clear();
  if (separator == ' ') {
    SplitAtBlanks(line);
    return true;
  }
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

void TableRow::SplitAtBlanks(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    at = std::min(line.find(' ', begin), line.size());
    if (at > begin) cells_.push_back(line.substr(begin, at - begin));
  }
}

char SeparatorOf(std::string_view header) {
  if (header.find('\t') != std::string_view::npos) return '\t';
  const bool bars =
      header.starts_with('|') || header.find(" | ") != std::string_view::npos;
  if (bars) return '|';
  if (IsInColumns(header)) return ' ';
  const bool semicolons = header.find(',') == std::string_view::npos &&
                          header.find(';') != std::string_view::npos;
  return semicolons ? ';' : ',';
}

}  // namespace nanwatch
