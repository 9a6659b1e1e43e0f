// The loss scale after a skipped update, in words (in_words.h).

#include <string>

#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {

std::optional<Scan::Printed> ScaleOfSkip(std::string_view line) {
  constexpr size_t kLineMax = 200;  // bytes, as of a sentence; ours
  static constexpr std::string_view kBad[] = {
      "overflow", "non-finite", "nonfinite", "not finite",
      "infinite", "inf ",       "inf/",      "nan "};
  static constexpr std::string_view kLibraries[] = {
      "attempted loss scale", "setting loss scale", "loss scaler ", "if ",
      "will "};
  static constexpr std::string_view kDenials[] = {
      "no overflow", "no inf", "no nan", "nothing ", "never ", "without "};
  // Of what was, in columns: "overflow=0 skipped=0", "skipped 3 samples".
  static constexpr std::string_view kCounts[] = {
      "skipped=",  "skipped:", "skipped 0", "overflow=", "overflow count",
      "overflows", "samples",  "dataset",   "image"};
  static constexpr std::string_view kVerbs[] = {"is now ", "now ", "is ", "-> ",
                                                "= ",      "=",    ": ",  ":"};
  if (line.size() > kLineMax || line.find("kip") == line.npos) {
    return std::nullopt;
  }
  const std::string low = LowerCase(line);
  if (!HasOneOf(low, kBad) || HasOneOf(low, kLibraries) ||
      HasOneOf(low, kDenials) || HasOneOf(low, kCounts)) {
    return std::nullopt;
  }
  const size_t at = low.rfind("scale");
  if (at == low.npos) return std::nullopt;
  Scan scan(line, at + 5);
  scan.SkipBlanks();
  bool said = false;
  for (const std::string_view verb : kVerbs) said = said || scan.Skip(verb);
  return said ? scan.PrintedNumber() : std::nullopt;
}

}  // namespace nanwatch
