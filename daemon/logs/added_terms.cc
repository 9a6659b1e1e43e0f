#include "logs/added_terms.h"

#include <cmath>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr double kLeaps = 1.25;  // times the loss before; ours
constexpr double kStays = 2;     // times a part before, or less; ours

bool IsPart(const RowNumber& number) {
  return !number.whole && !number.share && !number.unit;
}

// Returns the number of `row` behind the words that stand before the number
// `at` of `other`; null: there is none.
const RowNumber* Same(const NumberRow& row, const NumberRow& other, size_t at) {
  const std::string_view words = TrimBlanks(other.Before(at));
  for (size_t i = 0; i < row.numbers().size(); ++i) {
    if (TrimBlanks(row.Before(i)) == words) return &row.numbers()[i];
  }
  return nullptr;
}

}  // namespace

bool AddedTerms::AreIn(std::string_view line, double loss) {
  if (!before_.Read(line_) || !row_.Read(line)) return false;
  if (row_.numbers().size() < before_.numbers().size()) return false;
  bool kept = false;
  bool added = false;
  for (size_t i = 0; i < before_.numbers().size(); ++i) {
    const RowNumber& was = before_.numbers()[i];
    if (!IsPart(was) || was.value == loss_) continue;
    const RowNumber* now = Same(row_, before_, i);
    if (now == nullptr) return false;
    if (was.value == 0) {
      added |= now->value != 0;
      continue;
    }
    const double ratio = now->value / was.value;
    // Not of one that is not finite.
    if (!(ratio <= kStays && ratio >= 1 / kStays)) return false;
    kept = true;
  }
  for (size_t i = 0; i < row_.numbers().size(); ++i) {
    const RowNumber& now = row_.numbers()[i];
    if (!std::isfinite(now.value)) return false;
    added |= IsPart(now) && now.value != loss && now.value != 0 &&
             Same(before_, row_, i) == nullptr;
  }
  return kept && added;
}

bool AddedTerms::Take(std::string_view line, double loss) {
  const bool leaps = loss_ > 0 && loss > kLeaps * loss_;
  const bool added = leaps && AreIn(line, loss);
  line_ = line.substr(0, NumberRow::kBytesMax);
  loss_ = loss;
  return added;
}

}  // namespace nanwatch
