#include "logs/number_columns.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

constexpr double kRankMax = 1023;   // as NumberedRanks
constexpr double kTimeOfDay = 1e9;  // seconds since 1970 are above; no step is
constexpr double kTimeMost = 2e9;   // and below, until 2033

bool IsTime(double value) {
  return value >= kTimeOfDay && std::isfinite(value);
}

// A time of day, as all lines show it; of what no word names as the first one
// does. A loss may be as large, and grows.
bool IsClock(const std::vector<RowValues>& lines, size_t i, bool named) {
  if (!named) return IsTime(lines.front()[i].value);
  return std::all_of(lines.begin(), lines.end(), [i](const RowValues& line) {
    const double value = line[i].value;
    const double seconds = value < kTimeMost ? value : value / 1000;
    return seconds >= kTimeOfDay && seconds < kTimeMost;
  });
}

}  // namespace

bool CountsUp(const std::vector<RowValues>& lines, size_t i) {
  for (size_t line = 0; line < lines.size(); ++line) {
    const RowNumber& number = lines[line][i];
    if (!number.whole || number.value < 0 || IsTime(number.value)) return false;
    if (line > 0 && number.value <= lines[line - 1][i].value) return false;
  }
  return true;
}

bool Goes(const std::vector<RowValues>& lines, size_t i) {
  for (size_t line = 0; line < lines.size(); ++line) {
    if (!lines[line][i].whole) return false;
    if (line > 0 && lines[line][i].value < lines[line - 1][i].value) {
      return false;
    }
  }
  return true;
}

bool CountsAgain(const std::vector<RowValues>& lines, size_t rank,
                 size_t step) {
  bool again = false;
  for (size_t line = 0; line < lines.size(); ++line) {
    const RowNumber& a = lines[line][rank];
    const RowNumber& b = lines[line][step];
    if (!a.whole || a.value < 0 || a.value > kRankMax) return false;
    if (!b.whole || b.value < 0 || IsTime(b.value)) return false;
    for (size_t before = 0; before < line; ++before) {
      if (lines[before][step].value != b.value) continue;
      if (lines[before][rank].value == a.value) return false;
      again = true;
    }
  }
  return again;
}

bool IsReal(const std::vector<RowValues>& lines, size_t i, bool named) {
  if (IsClock(lines, i, named)) return false;
  size_t real = 0;
  for (const RowValues& line : lines) {
    if (line[i].share || line[i].unit) return false;
    if (!line[i].whole) ++real;
  }
  return 2 * real > lines.size();
}

bool Falls(const std::vector<RowValues>& lines, size_t i) {
  return lines.back()[i].value < lines.front()[i].value;
}

bool AnyBelowZero(const std::vector<RowValues>& lines, size_t i) {
  return std::any_of(lines.begin(), lines.end(),
                     [i](const RowValues& line) { return line[i].value < 0; });
}

bool AllBelowZero(const std::vector<RowValues>& lines, size_t i) {
  return std::all_of(lines.begin(), lines.end(),
                     [i](const RowValues& line) { return line[i].value < 0; });
}

}  // namespace nanwatch
