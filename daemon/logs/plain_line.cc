#include "logs/plain_line.h"

#include <cstdint>

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

// What a line may hold that is taken off it.
enum Sign : uint8_t {
  kEscape = 1,
  kHash = 2,
  kParenthesis = 4,
  kSlash = 8,
  kQuote = 16,
  kNoAscii = 32,
};

// Returns which of them `line` holds. Without a way out of the loop, so many
// bytes are looked at at once.
uint8_t SignsOf(std::string_view line) {
  uint8_t found = 0;
  for (const char c : line) {
    const auto sign = [c](char other, Sign bit) {
      return static_cast<uint8_t>(c == other ? bit : 0);
    };
    found |= sign('\x1b', kEscape) | sign('#', kHash) |
             sign('(', kParenthesis) | sign('/', kSlash) | sign('\'', kQuote) |
             static_cast<uint8_t>(
                 static_cast<unsigned char>(c) >= 0x80 ? kNoAscii : 0);
  }
  return found;
}

}  // namespace

std::string_view PlainLine::Of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  uint8_t signs = SignsOf(line);
  if (signs & kEscape) line = WithoutColours(line, &plain_);
  if (signs & kHash) line = WithTabs(line, &tabs_);
  if (signs & kNoAscii) {
    line = Translated(line, &translated_);
    signs |= kSlash;  // of another language
  }
  if (signs & kParenthesis) line = WithDictOfPairs(line, &paired_);
  if (signs & kSlash) line = WithoutPointsOfThousands(line, &pointed_);
  const bool parted = (signs & (kQuote | kNoAscii)) != 0;
  return parted ? WithoutThousandSigns(line, &ungrouped_) : line;
}

}  // namespace nanwatch
