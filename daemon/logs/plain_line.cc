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
  size_t at = line.find(kTab);
  if (at == line.npos) return line;
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

std::string_view PlainLine::Of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  line = WithTabs(WithoutColours(line, &plain_), &tabs_);
  line = Translated(line, &translated_);
  line = WithDictOfPairs(line, &paired_);
  line = WithoutPointsOfThousands(line, &pointed_);
  return WithoutThousandSigns(line, &ungrouped_);
}

}  // namespace nanwatch
