// Scan: a place in a line, moved forward by what is found there. Formats are
// written with it: "go to `loss scale:`, read a number".

#ifndef NANWATCH_LOGS_SCAN_H_
#define NANWATCH_LOGS_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// Of ASCII alone.
constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
std::string LowerCase(std::string_view text);
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
// Of one name: "max_loss" is another than "loss".
constexpr bool IsLetterOrMark(char c) {
  return IsLetter(c) || c == '_' || c == '-';
}

class Scan {
 public:
  explicit Scan(std::string_view line, size_t at = 0) : line_(line), at_(at) {}

  size_t at() const { return at_; }
  bool done() const { return at_ >= line_.size(); }
  std::string_view rest() const { return line_.substr(at_); }
  char peek() const { return done() ? '\0' : line_[at_]; }

  // Just behind the next `literal`. False, and nothing moves: there is none.
  bool To(std::string_view literal);
  // Past `literal`, if the rest begins with it.
  bool Skip(std::string_view literal);
  bool Skip(char c) {
    if (done() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  void SkipBlanks();  // spaces and tabs
  // What stands before the next of `ends` (or the line's end), past it.
  std::string_view Until(char end);

  // A number after blanks: decimal or exponent, nan, inf, +-; JSON's Infinity
  // and NaN too. nullopt, and nothing moves: there is none. A number that is
  // glued to letters ("12abc") is none.
  std::optional<double> Number();
  std::optional<int64_t> Integer();
  // A number and its text, as printed.
  struct Printed {
    double value;
    std::string_view text;
  };
  std::optional<Printed> PrintedNumber();

 private:
  std::string_view line_;
  size_t at_;
};

// A whole text as a number; blanks around it are allowed.
std::optional<double> WholeNumber(std::string_view text);
// The number that begins `text`, where commas part its thousands ("65,536"):
// without them; `*size` is the size with them. Empty: it has none. "1,200" is
// no list, which has blanks.
std::string WithoutThousands(std::string_view text, size_t* size);
// What is behind the parenthesis where `text` begins with a call, as Python
// prints what holds a number: "tensor(2.3, device='cuda:0')",
// "np.float64(2.3)". Else `text`.
std::string_view InsideCall(std::string_view text);
// The number that begins `text`, behind quotes and brackets, also of such a
// call.
std::optional<double> ValueAt(std::string_view text);

// As WholeNumber, also of such a call.
std::optional<double> PrintedValue(std::string_view text);
// A number that is a count of steps or skips; nullopt: negative, above 1e15 or
// not finite, which no count is.
std::optional<int64_t> AsCount(std::optional<double> number);
std::string_view TrimBlanks(std::string_view text);

// Returns where the blanks at `at` end.
inline size_t BehindBlanks(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// Returns the size of the width that Julia prints behind what is not finite:
// "NaN32", "Inf16"; 0: `behind` does not begin with one.
inline size_t SizeOfWidth(std::string_view behind) {
  const bool width = behind.starts_with("32") || behind.starts_with("16");
  return width && (behind.size() == 2 || !IsDigit(behind[2])) ? 2 : 0;
}

// Returns where the digits at `at` end.
inline size_t BehindDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// Returns where the exponent at `at` ends, "e-04"; `at`: there is none.
inline size_t BehindExponent(std::string_view text, size_t at) {
  if (at == text.size() || (text[at] | 0x20) != 'e') return at;
  size_t end = at + 1;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  const size_t digits = end;
  end = BehindDigits(text, digits);
  return end > digits ? end : at;
}

// `text` without the blanks and quotes at its end.
inline std::string_view TrimQuotes(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with('\'') || text.ends_with('"')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_SCAN_H_
