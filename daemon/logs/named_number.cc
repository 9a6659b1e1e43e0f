#include "logs/named_number.h"

#include <algorithm>

namespace nanwatch {
namespace {

// Before a name: another name goes on.
bool GoesOn(char c) {
  return IsLetterOrMark(c) || IsDigit(c) || c == '.' || c == '/';
}

// Behind a number: it is whole. A dash or a colon are of a time of day that
// another message begins with.
bool Ends(char c) {
  return c == ' ' || c == '\t' || c == ',' || c == ')' || c == ']' ||
         c == '|' || c == '}' || c == ';';
}

}  // namespace

std::optional<Scan::Printed> NumberBehind(std::string_view text,
                                          std::string_view name,
                                          LastNumber last) {
  size_t at = text.find(name);
  while (at != std::string_view::npos && at > 0 && GoesOn(text[at - 1])) {
    at = text.find(name, at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  Scan scan(text, at + name.size());
  scan.SkipBlanks();
  scan.Skip('[');  // a list's first
  const std::optional<Scan::Printed> printed = scan.PrintedNumber();
  if (!printed) return std::nullopt;
  if (scan.done()) {
    if (last == LastNumber::kMayBeTorn) return std::nullopt;
  } else if (!Ends(scan.peek())) {
    return std::nullopt;
  }
  return printed;
}

bool SetBehind(std::string_view text, std::string_view name, StepField field,
               LogFact* fact, LastNumber last) {
  const std::optional<Scan::Printed> printed = NumberBehind(text, name, last);
  if (printed) fact->Set(field, printed->value);
  return printed.has_value();
}

size_t Decimals(std::string_view printed) {
  const size_t point = printed.find('.');
  if (point == std::string_view::npos) return 0;
  const size_t end = printed.find_first_not_of("0123456789", point + 1);
  return std::min(end, printed.size()) - point - 1;
}

std::optional<int64_t> ReadCount(Scan* scan) {
  const std::optional<int64_t> count = scan->Integer();
  if (!count || *count < 0 || *count > kCountMax) return std::nullopt;
  return count;
}

std::optional<Ratio> ReadRatio(Scan* scan) {
  const std::optional<int64_t> part = ReadCount(scan);
  if (!part) return std::nullopt;
  scan->SkipBlanks();
  if (!scan->Skip('/')) return std::nullopt;
  const std::optional<int64_t> whole = ReadCount(scan);
  if (!whole) return std::nullopt;
  return Ratio{*part, *whole};
}

}  // namespace nanwatch
