#include "logs/dumped_setting.h"

#include <optional>

#include "logs/dict_scan.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void Tell(std::string_view key, std::string_view value, size_t at,
          std::span<const DumpedSetting> known, FactList* facts) {
  const std::optional<double> number = WholeNumber(value);
  for (const DumpedSetting& each : known) {
    const bool says = each.text.empty() ? number.has_value() : value == "True";
    if (key != each.key || !says) continue;
    AddSetting(each.setting, number.value_or(0), at, facts);
    facts->back().text = each.text;
  }
}

}  // namespace

void ReadDumped(std::string_view line, size_t at,
                std::span<const DumpedSetting> known, FactList* facts) {
  Scan scan(line, at);
  scan.SkipBlanks();
  const std::string_view key = scan.Until(' ');
  scan.SkipBlanks();
  if (!scan.Skip("...")) return;
  while (scan.Skip('.')) {
  }
  const std::string_view value = TrimBlanks(scan.rest());
  Tell(key, value, at, known, facts);
  if (!value.starts_with('{')) return;
  for (DictScan dict(value); dict.Next();) {
    Tell(dict.key(), dict.value(), at, known, facts);
  }
}

}  // namespace nanwatch
