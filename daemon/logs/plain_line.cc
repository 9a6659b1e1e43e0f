#include "logs/plain_line.h"

#include "logs/pair_lists.h"
#include "logs/pointed_thousands.h"
#include "logs/thousand_signs.h"
#include "logs/translated.h"

namespace nanwatch {
namespace {

// Takes out terminal colours: ESC [ ... letter.
std::string_view WithoutColours(std::string_view line, std::string* plain) {
  if (line.find('\x1b') == std::string_view::npos) return line;
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

bool Holds(std::string_view line, char c) { return line.find(c) != line.npos; }

}  // namespace

std::string_view PlainLine::Of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  line = WithoutColours(line, &plain_);
  line = WithTabs(line, &tabs_);
  const bool ascii = IsAscii(line);  // such a line is English
  if (!ascii) line = Translated(line, &translated_);
  // Of most lines a letter shows that there is nothing of the kind.
  if (Holds(line, '(')) line = WithDictOfPairs(line, &paired_);
  if (Holds(line, '/')) line = WithoutPointsOfThousands(line, &pointed_);
  const bool parted = !ascii || Holds(line, '\'');
  return parted ? WithoutThousandSigns(line, &ungrouped_) : line;
}

}  // namespace nanwatch
