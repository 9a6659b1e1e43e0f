#include "logs/plain_line.h"

#include "logs/line_signs.h"
#include "logs/pair_lists.h"
#include "logs/pointed_thousands.h"
#include "logs/thousand_signs.h"
#include "logs/translated.h"

namespace nanwatch {
namespace {

// Takes out terminal colours: ESC [ ... letter.
std::string_view WithoutColours(std::string_view line, std::string* plain) {
  plain->clear();
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b' || i + 1 == line.size() || line[i + 1] != '[') {
      plain->push_back(line[i]);
      continue;
    }
    i += 2;
    while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
  }
  return *plain;
}

// Returns `line` with tabs where a syslog wrote "#011" for them.
std::string_view WithTabs(std::string_view line, std::string* out) {
  constexpr std::string_view kTab = "#011";
  size_t at = line.find('#');  // of bars there are many
  if (at == line.npos || !line.substr(at).starts_with(kTab)) return line;
  out->clear();
  size_t told = 0;
  for (; at != line.npos; at = line.find(kTab, told)) {
    out->append(line.substr(told, at - told)).append("\t");
    told = at + kTab.size();
  }
  out->append(line.substr(told));
  return *out;
}

}  // namespace

// Of most lines their signs show that there is nothing of the kind.
std::string_view PlainLine::Of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  LineSigns signs = SignsOf(line);
  if (signs.escape) {
    line = WithoutColours(line, &plain_);
    signs = SignsOf(line);
  }
  if (signs.hash) line = WithTabs(line, &tabs_);
  // A line of ASCII is English.
  if (signs.other) {
    line = Translated(line, &translated_);
    signs = SignsOf(line);
    signs.other = true;
  }
  if (signs.parenthesis) line = WithDictOfPairs(line, &paired_);
  if (signs.slash) line = WithoutPointsOfThousands(line, &pointed_);
  const bool parted = signs.other || signs.quote;
  return parted ? WithoutThousandSigns(line, &ungrouped_) : line;
}

}  // namespace nanwatch
