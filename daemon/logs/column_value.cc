#include "logs/column_value.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "logs/in_words.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// "Cost: 715.7 sec": the number is a time; what a sign follows is a name.
bool IsTime(std::string_view behind) {
  if (!behind.starts_with(' ') || behind.size() < 2) return false;
  const std::string_view text = TrimBlanks(behind);
  const size_t end =
      std::min(text.find_first_not_of("acdeghimnorstu"), text.size());
  const std::string_view next = TrimBlanks(text.substr(end));
  const std::string_view unit = text.substr(0, end);
  // "0.45 min, 0.66 max".
  return NamesUnitOfTime(unit) && (unit != "min" || next.empty()) &&
         (next.empty() || next.find_first_of(",;)|") == 0);
}

// The number that begins `rest`.
void AddPrinted(ColumnMeaning meaning, const Scan::Printed& printed,
                std::string_view rest, ColumnFact* fact) {
  const std::string_view behind = rest.substr(printed.text.size());
  const char next = behind.empty() ? '\0' : behind.front();
  if (next == ',') {
    size_t size = 0;
    const std::string plain = WithoutThousands(rest, &size);
    if (!plain.empty()) return fact->Add(meaning, plain);
  }
  const bool share = next == '%' && std::isfinite(printed.value);
  if (share && meaning != ColumnMeaning::kAccuracy) {
    const auto part = PartOfBar(behind);
    if (part && meaning == ColumnMeaning::kStep) {
      fact->AddNumber(meaning, static_cast<double>(part->step));
      fact->SetWhole(part->whole);
    }
  } else if (meaning == ColumnMeaning::kLossScale) {
    fact->AddScale(printed.text, printed.value, behind.empty());
  } else if (!IsLoss(meaning) || !IsTime(behind)) {
    fact->AddNumber(meaning, printed.value);
    if (meaning != ColumnMeaning::kStep || next != '/') return;
    // "/4468]".
    Scan whole(behind, 1);
    if (const auto steps = ReadCount(&whole)) fact->SetWhole(*steps);
  }
}

}  // namespace

void AddValue(ColumnMeaning meaning, std::string_view text, ColumnFact* fact) {
  const size_t at = text.find_first_not_of(" \t'\"[(");
  if (at == text.npos) return;
  const std::string_view rest = InsideCall(text.substr(at));
  if (const auto printed = Scan(rest).PrintedNumber()) {
    return AddPrinted(meaning, *printed, rest, fact);
  }
  if (meaning == ColumnMeaning::kStep) {
    size_t size = 0;
    const std::string plain = WithoutThousands(rest, &size);
    if (!plain.empty()) return fact->Add(meaning, plain);
    if (const auto step = ReadRoundedCount(rest)) fact->AddRoundedStep(*step);
    return;
  }
  for (const std::string_view truth : {"True", "False", "true", "false"}) {
    if (rest.starts_with(truth)) fact->Add(meaning, truth);
  }
}

bool AddMapped(const std::vector<std::pair<std::string, ColumnMeaning>>& map,
               std::string_view line, ColumnFact* fact) {
  for (const auto& [column, meaning] : map) {
    const auto number = NumberBehind(line, column + " ", LastNumber::kIsWhole);
    if (number) fact->AddNumber(meaning, number->value);
  }
  return fact->SaysHealth();
}

bool AddSkip(std::string_view line, ColumnFact* fact) {
  const auto scale = ScaleOfSkip(line);
  if (!scale) return false;
  fact->AddScale(scale->text, scale->value, scale->text.end() == line.end());
  fact->AddNumber(ColumnMeaning::kOverflow, 1);
  return true;
}

}  // namespace nanwatch
