// NamesBefore: the name before a sign in a line, and what it means.

#ifndef NANWATCH_LOGS_NAMES_BEFORE_H_
#define NANWATCH_LOGS_NAMES_BEFORE_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_names.h"
#include "logs/scale_by_value.h"
#include "logs/scan.h"

namespace nanwatch {

// Of names as programs print them: "train/loss", "grad-norm", "lr@0".
bool IsNameCharacter(char c);

// Returns the name that ends `text`, quotes and blanks apart.
std::string_view NameAtEnd(std::string_view text);

// `text` ends with a gradient's norm as formulas have it: "|g|", "||grad||".
bool EndsWithNorm(std::string_view text);

// Returns where the number at `at` ends, with what is glued to it; `at`: there
// is none. No usual name begins with a digit, so what is before a name is the
// same in each line.
size_t BehindNumber(std::string_view line, size_t at);

// A name at the end of a text: what it means, and its size with what follows it
// there; 0: none.
struct Ending {
  ColumnMeaning meaning = ColumnMeaning::kNothing;
  size_t size = 0;
  bool evaluation = false;  // a loss, and no training's: "Val Loss"
};

// Names before the signs of a log, which holds few texts there, again and
// again.
class NamesBefore {
 public:
  explicit NamesBefore(const ColumnMap& map) : names_(map) {}

  bool mapped() const { return names_.mapped(); }
  const std::vector<std::pair<std::string, ColumnMeaning>>& map() const {
    return names_.map();
  }
  // The longest name at the end of `text` that means something; its value
  // begins `value`.
  Ending Find(std::string_view text, std::string_view value) {
    const Ending found = Find(text);
    if (found.meaning == ColumnMeaning::kLossScale && !mapped() &&
        !scales_.Lifts(text, value)) {
      return {};
    }
    if (found.size > 0 || mapped()) return found;
    return {ColumnMeaning::kLossScale, scale_.Look(text, value)};
  }

 private:
  struct Known {
    std::string text;
    Ending ending;
  };

  Ending Find(std::string_view text) {
    const std::string_view name = TrimQuotes(text);
    if (!names_.MayEnd(name)) return {};
    if (text.size() > kTextMax) return Look(text, name);
    Known& known = lately_[HashOfName(text) % lately_.size()];
    if (known.text != text) {
      known.text = text;
      known.ending = Look(text, name);
    }
    return known.ending;
  }
  // `name`: `text` without what follows the name. Up to three words: "number of
  // updates".
  Ending Look(std::string_view text, std::string_view name);

  static constexpr size_t kTextMax = 64;
  ColumnNames names_;
  ScaleByValue scale_;
  PlainScale scales_;
  std::array<Known, 256> lately_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NAMES_BEFORE_H_
