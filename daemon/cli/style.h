// Style: how the terminal shows things. Colour only where a person looks.

#ifndef NANWATCH_CLI_STYLE_H_
#define NANWATCH_CLI_STYLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/grouped.h"
#include "model/severity.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

struct Style {
  bool color = false;
  int columns = 80;
  int rows = 24;

  // For standard output, or another file that is open: colour when it is a
  // terminal and NO_COLOR is unset.
  static Style OfTerminal(int file = 1);

  std::string Bold(std::string_view text) const;
  std::string Dim(std::string_view text) const;
  // `text` in the colour of `severity`.
  std::string Tint(v1::Severity severity, std::string_view text) const;
};

// A severity as the wire has it.
v1::Severity OnWire(Severity severity);

// "healthy", "info", "warning", "critical".
std::string_view Word(v1::Severity severity);
std::string_view Word(v1::LifeState state);
std::string_view Word(v1::AlertState state);
std::string_view Word(v1::EvidenceGrade grade);

// A number as a person reads it: 65536, 0.0012, 1.5e+09, NaN, Infinity,
// and "0 as printed" of a bound (model/scale_bound.h).
std::string Number(double value);
std::string Number(std::optional<double> value);  // absent: "-"
// "12 s", "3 min", "2 h", from now back to `us`.
std::string Ago(int64_t us, int64_t now_us);

// In capital letters, as ASCII has them.
std::string Upper(std::string_view text);
// `text` with all that is not plain (base/plain_text.h) shown as '?', so that a
// name or a line of a log cannot drive the terminal.
std::string Clean(std::string_view text);
// Text broken at spaces into lines of at most `columns`, each begun with
// `indent` spaces. Cleaned.
std::string Wrapped(std::string_view text, int indent, int columns);
// One line, cleaned, cut to `width` columns with "...".
std::string Fitted(std::string_view text, size_t width);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_STYLE_H_
