#include "logs/table_row.h"

#include <algorithm>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kGap = 2;  // blanks between columns, as IsInColumns()

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

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    at = std::min(line.find(' ', begin), line.size());
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

// "0.25", "nan", "00:42".
bool IsValue(std::string_view cell) {
  return IsDigit(cell[0]) || WholeNumber(cell).has_value();
}

// Returns for each of `names` that of `values` which begins below it, or ends
// there where `at_ends`; empty: one stands below none, or none behind a gap, as
// in a list of other things. A value that is wider than its column moves those
// behind it.
std::vector<std::string_view> Below(std::string_view header,
                                    const std::vector<std::string_view>& names,
                                    std::string_view line,
                                    const std::vector<std::string_view>& values,
                                    bool at_ends) {
  const auto place = [at_ends](std::string_view text, std::string_view word) {
    return word.data() - text.data() +
           static_cast<ptrdiff_t>(at_ends ? word.size() : 0);
  };
  std::vector<std::string_view> cells(names.size());
  auto value = values.begin();
  size_t last = 0;
  ptrdiff_t moved = 0;
  for (size_t i = 0; i < names.size() && value != values.end(); ++i) {
    if (place(header, names[i]) + moved != place(line, *value)) continue;
    cells[i] = *value++;
    last = i;
    // Two that are glued are no value.
    const bool may_move = !at_ends && WholeNumber(cells[i]).has_value();
    if (!may_move || i + 1 == names.size()) continue;
    const ptrdiff_t width = names[i + 1].data() - names[i].data();
    const auto wants = static_cast<ptrdiff_t>(cells[i].size() + kGap);
    moved += std::max<ptrdiff_t>(wants - width, 0);
  }
  const bool gap = last >= values.size();
  if (value != values.end() || !gap) cells.clear();
  return cells;
}

}  // namespace

bool TableRow::Split(std::string_view line, char separator) {
  cells_.clear();
  if (separator == ' ') {
    cells_ = Words(line);
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

bool TableRow::SplitUnder(std::string_view header, std::string_view line) {
  const std::vector<std::string_view> names = Words(header);
  const std::vector<std::string_view> values = Words(line);
  const bool fits = values.size() > 1 && values.size() <= names.size() &&
                    std::ranges::all_of(values, IsValue);
  if (!fits) return false;
  for (const bool at_ends : {false, true}) {
    cells_ = Below(header, names, line, values, at_ends);
    if (!cells_.empty()) return true;
  }
  return false;
}

bool TableRow::HasNumber() const {
  return std::ranges::any_of(cells_, [](std::string_view cell) {
    return WholeNumber(cell).has_value();
  });
}

bool TableRow::AllNumbers() const {
  return std::ranges::all_of(cells_, [](std::string_view cell) {
    return WholeNumber(cell).has_value();
  });
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
