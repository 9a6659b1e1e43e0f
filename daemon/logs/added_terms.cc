#include "logs/added_terms.h"

#include <algorithm>
#include <cmath>

#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/number_row.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

constexpr double kLeaps = 1.25;    // times the highest lately; ours
constexpr double kKept = 0.95;     // of that, from line to line; ours
constexpr double kStays = 2;       // times a part before, or less; ours
constexpr double kNear = 0.1;      // of the loss before, from its terms; ours
constexpr double kExplains = 2.5;  // times what was added: its weights; ours
constexpr double kMost = 2;  // times the loss before, of terms from 0; ours

bool IsAbout(double value, double whole) {
  return std::fabs(value - whole) <= kNear * whole;
}

// What is known by its name to be something else is no term of a loss.
bool MayBeTerm(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::kNothing || IsAnyLoss(meaning) ||
         meaning == ColumnMeaning::kTerm ||
         meaning == ColumnMeaning::kDivergence;
}

// Returns the name of the number `i`, where it may be a term of the loss; else
// an empty one.
std::string_view TermAt(const NumberRow& row, size_t i) {
  const RowNumber& number = row.numbers()[i];
  if (number.whole || number.share || number.unit) return {};
  std::string_view text = row.Before(i);
  while (!text.empty() && !IsNameCharacter(text.back())) text.remove_suffix(1);
  const std::string_view name = NameAtEnd(text);
  const bool term = MayBeTerm(UsualMeaning(name)) && !IsEvaluation(text);
  return term ? name : std::string_view();
}

// It stands alone before its number, and not at the end of a sentence.
bool IsBare(std::string_view name, std::string_view before) {
  const auto letters = std::ranges::count_if(before, IsNameCharacter);
  return static_cast<size_t>(letters) == name.size();
}

// Returns the term of that name; null: there is none.
const RowNumber* Find(const NumberRow& row, std::string_view name) {
  for (size_t i = 0; i < row.numbers().size(); ++i) {
    if (TermAt(row, i) == name) return &row.numbers()[i];
  }
  return nullptr;
}

}  // namespace

// The terms before are the loss before, or one of them is nearly all of it. Of
// terms that are weighted the sum is about what the loss leaps by.
bool AddedTerms::AreIn(std::string_view line, double loss) const {
  NumberRow before;
  NumberRow row;
  if (!before.Read(line_) || !row.Read(line)) return false;
  bool fresh = false;
  double added = 0;
  double kept = 0;        // of the line before
  bool is_whole = false;  // one of these was about all of the loss
  for (size_t i = 0; i < row.numbers().size(); ++i) {
    const std::string_view name = TermAt(row, i);
    const double now = row.numbers()[i].value;
    if (!std::isfinite(now)) return false;
    if (name.empty() || now == loss) continue;
    const RowNumber* was = Find(before, name);
    if (was == nullptr || was->value == 0) {
      fresh |= was == nullptr;
      if (IsBare(name, row.Before(i))) added += now;
      continue;
    }
    const double ratio = now / was->value;
    if (!(ratio <= kStays && ratio >= 1 / kStays)) return false;
    kept += was->value;
    is_whole |= IsAbout(was->value, loss_);
  }
  const double rise = loss - loss_;
  return (is_whole || IsAbout(kept, loss_)) && rise <= kExplains * added &&
         added <= kExplains * rise && (fresh || rise <= kMost * loss_);
}

bool AddedTerms::Take(std::string_view line, double loss) {
  const bool leaps = loss_ > 0 && loss > kLeaps * high_;
  high_ = std::max(loss, kKept * high_);
  const bool added = leaps && AreIn(line, loss);
  line_ = line.substr(0, NumberRow::kBytesMax);
  loss_ = loss;
  return added;
}

}  // namespace nanwatch
