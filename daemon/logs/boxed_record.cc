#include "logs/boxed_record.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kBetween = " | ";

struct Row {
  std::string_view name;
  std::string_view value;  // empty: it has none
};

// What stands between the walls of a row, or in the rule above a box:
// "+- step 12 ----+". Empty: the line is neither.
std::string_view Inside(std::string_view line) {
  line = TrimBlanks(line);
  const bool row =
      line.size() >= 5 && line.front() == '|' && line.back() == '|';
  if (row) return line.substr(1, line.size() - 2);
  if (!IsTopOfBox(line) || line.back() != '+') return {};
  const size_t begin = line.find_first_not_of("+-");
  const size_t end = line.find_last_not_of("+-");
  return begin == line.npos ? "" : line.substr(begin, end + 1 - begin);
}

std::optional<Row> RowOf(std::string_view line) {
  line = Inside(line);
  // A name and a value with a wall between, or blanks.
  size_t bar = line.find('|');
  if (bar == line.npos) {
    const size_t last = line.find_last_not_of(' ');
    if (last == line.npos) return std::nullopt;
    bar = line.find_last_of(' ', last);
    if (bar == line.npos || !WholeNumber(line.substr(bar + 1, last - bar))) {
      return std::nullopt;
    }
  } else if (line.find('|', bar + 1) != line.npos) {
    return std::nullopt;
  }
  Row row{TrimBlanks(line.substr(0, bar)), TrimBlanks(line.substr(bar + 1))};
  const bool named = !row.name.empty() && !WholeNumber(row.name) &&
                     row.name.find_first_of("=:") == row.name.npos &&
                     row.name.find_first_not_of("-+") != row.name.npos;
  if (!named) return std::nullopt;
  if (!WholeNumber(row.value)) row.value = {};
  return row;
}

// "| argument | value |", above a table of settings. A section has no value.
bool HeadsSettings(std::string_view line) {
  constexpr std::string_view kNames[] = {"arg",    "param", "hyperparam",
                                         "hparam", "opt",   "setting",
                                         "config", "flag"};
  line = TrimBlanks(line);
  const size_t wall = line.find(" |", 2);
  if (!line.starts_with("| ") || wall == line.npos) return false;
  const size_t value = line.find_first_not_of(' ', wall + 2);
  if (value == line.npos || line[value] == '|') return false;
  const std::string name = LowerCase(line.substr(2, wall - 2));
  return std::ranges::any_of(kNames, [&name](std::string_view begin) {
    return name.starts_with(begin);
  });
}

}  // namespace

bool IsTopOfBox(std::string_view line) { return line.starts_with("+-"); }

bool BoxedRecord::Begins(std::string_view line) const {
  if (record_.empty()) return false;
  const std::optional<Row> row = RowOf(line);
  return row && !row->value.empty() &&
         record_.find(std::string(kBetween).append(row->name).append(":")) !=
             record_.npos;
}

bool BoxedRecord::Take(std::string_view line) {
  const std::optional<Row> row = RowOf(line);
  if (!row) return false;
  if (row->value.empty()) settings_ |= HeadsSettings(line);
  if (!settings_ && !row->value.empty() &&
      record_.size() + line.size() < kRecordMax) {
    record_.append(kBetween).append(row->name).append(": ").append(row->value);
  }
  return true;
}

std::string BoxedRecord::TakeRecord() {
  settings_ = false;
  std::string record = std::exchange(record_, {});
  if (!record.empty()) record.erase(0, kBetween.size());
  return record;
}

}  // namespace nanwatch
