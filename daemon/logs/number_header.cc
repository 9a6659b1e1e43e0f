// The header of a table whose rows are lines alike (number_roles.h).

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/each_word.h"
#include "logs/number_roles.h"
#include "logs/number_row.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// Bars stand between its names, and in none ("|g|embed").
bool PartsNames(std::string_view header) {
  bool parts = header.find('|') != header.npos;
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] != '|') continue;
    parts &= (i == 0 || header[i - 1] == ' ') &&
             (i + 1 == header.size() || header[i + 1] == ' ');
  }
  return parts;
}

// Returns `header` with "Total_Loss" for "Total-Loss": one name.
std::string WithoutHyphens(std::string_view header) {
  std::string names(header);
  for (size_t i = 1; i + 1 < names.size(); ++i) {
    const bool within = IsLetter(names[i - 1]) && IsLetter(names[i + 1]);
    if (names[i] == '-' && within) names[i] = '_';
  }
  return names;
}

// What the names of a header mean, one after the other.
struct HeaderNames {
  void Add(std::string_view name) {
    const ColumnMeaning usual = UsualMeaning(name);
    const bool is_loss = IsLoss(usual);
    meanings.push_back(is_loss && loss ? ColumnMeaning::kNothing : usual);
    loss |= is_loss;
  }
  std::vector<ColumnMeaning> Take() {
    if (!loss || meanings.size() < 2) meanings.clear();
    return std::move(meanings);
  }

  std::vector<ColumnMeaning> meanings;
  bool loss = false;  // one of them is
};

}  // namespace

std::vector<ColumnMeaning> ReadGappedHeader(std::string_view line) {
  HeaderNames names;
  for (size_t at = line.find_first_not_of(' '); at < line.size();) {
    const size_t end = std::min(line.find("  ", at), line.size());
    names.Add(line.substr(at, end - at));
    at = line.find_first_not_of(' ', end);
  }
  return names.Take();
}

std::vector<ColumnMeaning> ReadHeader(std::string_view line) {
  HeaderNames names;
  // "| Training Loss | Epoch |": a name may be of several words.
  if (PartsNames(line)) {
    line = WithoutFirstBar(line);
    for (size_t end = line.find('|'); !line.empty(); end = line.find('|')) {
      names.Add(line.substr(0, end));
      line.remove_prefix(std::min(end, line.size() - 1) + 1);
    }
  } else {
    ForEachWord(WithoutHyphens(line),
                [&](std::string_view name) { names.Add(name); });
  }
  return names.Take();
}

}  // namespace nanwatch
