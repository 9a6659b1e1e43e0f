#include "logs/scan.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace nanwatch {
namespace {

bool IsWordCharacter(char c) { return IsDigit(c) || IsLetter(c) || c == '_'; }

// Adds digits, as many as there are before `end`, to `*number`; behind them.
const char* ReadDigits(const char* at, const char* end, uint64_t* number) {
  uint64_t sum = *number;
  for (; at != end && IsDigit(*at); ++at) {
    sum = sum * 10 + static_cast<uint64_t>(*at - '0');
  }
  *number = sum;
  return at;
}

// The power of ten of "e-04", past it; `at` is behind the digits. 0, and `at`
// stays, where there is none, or one of many digits. `point`: one stands in the
// digits, and f may stand for e, as Julia prints "2.31f0".
int ReadPower(bool point, const char** at, const char* end) {
  constexpr ptrdiff_t kDigits = 2;
  const char* c = *at;
  if (c == end || ((*c | 0x20) != 'e' && !(point && *c == 'f'))) return 0;
  const bool minus = ++c != end && *c == '-';
  if (minus || (c != end && *c == '+')) ++c;
  uint64_t power = 0;
  const char* const stop =
      ReadDigits(c, c + std::min(end - c, kDigits), &power);
  if (stop == c) return 0;
  *at = stop;
  return minus ? -static_cast<int>(power) : static_cast<int>(power);
}

// Length of the number at the start of `text`, where it is of so few digits,
// and of such a power of ten, that it is a product or quotient of numbers that
// a double holds; else 0. Most numbers of logs are.
size_t PlainNumberLength(std::string_view text, double* value) {
  static constexpr double kTens[] = {
      1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr size_t kDigits = 15;
  const char* const begin = text.data();
  const char* const all = begin + text.size();
  const char* const end = begin + std::min(text.size(), kDigits + 1);
  uint64_t digits = 0;
  const char* at = ReadDigits(begin, end, &digits);
  if (at == begin) return 0;
  const char* const point = at;
  if (at != end && *at == '.') at = ReadDigits(at + 1, end, &digits);
  const ptrdiff_t decimals = std::max<ptrdiff_t>(at - point - 1, 0);
  if (at == end && text.size() > kDigits) return 0;
  const ptrdiff_t power = ReadPower(decimals > 0, &at, all) - decimals;
  if (at != all && (IsWordCharacter(*at) || *at == '#')) return 0;
  const size_t tens = static_cast<size_t>(std::abs(power));
  if (tens >= std::size(kTens)) return 0;
  const auto whole = static_cast<double>(digits);
  *value = power < 0 ? whole / kTens[tens] : whole * kTens[tens];
  return static_cast<size_t>(at - begin);
}

// Length of what Microsoft's C library prints for numbers that are none,
// "-1.#IND", "1.#QNAN00", "1.#INF"; 0: there is none. Few decimals round its
// letters, too: "1.#J", "1.#IO".
size_t MarkedLength(std::string_view text, double* value) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  if (!text.substr(sign).starts_with("1.#")) return 0;
  size_t end = sign + 3;
  while (end < text.size() && IsWordCharacter(text[end])) ++end;
  const std::string_view letters = text.substr(sign + 3, end - sign - 3);
  if (letters.empty()) return 0;
  const bool infinite = letters.starts_with("INF") || letters == "IO";
  *value = infinite ? std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
  if (infinite && sign == 1) *value = -*value;
  return end;
}

// Length of YAML's word for a number that is none, ".nan", "-.inf"; 0: there is
// none.
size_t YamlLength(std::string_view text, double* value) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr size_t kLetters = 3;
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (text.size() < sign + 1 + kLetters || text[sign] != '.') return 0;
  const std::string_view word = text.substr(sign + 1, kLetters);
  if (word == "nan" || word == "NaN" || word == "NAN") {
    *value = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "inf" || word == "Inf" || word == "INF") {
    *value = text[0] == '-' ? -kInfinite : kInfinite;
  } else {
    return 0;
  }
  return sign + 1 + kLetters;
}

// Length of what programs write behind "nan": Lightning's bar gives a point to
// all that it takes for a number, PaddleOCR fills its digits with x, and Julia
// says its bits.
size_t FillBehindWord(std::string_view behind) {
  if (behind.starts_with(".0")) return 2;
  if (const size_t width = SizeOfWidth(behind)) return width;
  return std::min(behind.find_first_not_of('x'), behind.size());
}

// Length of the number at the start of `text`, 0 if there is none.
size_t NumberLength(std::string_view text, double* value) {
  if (const size_t plain = PlainNumberLength(text, value)) return plain;
  if (const size_t marked = MarkedLength(text, value)) return marked;
  if (const size_t yaml = YamlLength(text, value)) {
    const bool more = yaml < text.size() &&
                      (IsWordCharacter(text[yaml]) || text[yaml] == '.');
    return more ? 0 : yaml;
  }
  const size_t sign = !text.empty() && text[0] == '+' ? 1 : 0;
  const char* begin = text.data() + sign;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, *value);
  if (error == std::errc::result_out_of_range) {
    // Too small or too large for a double: said as it is printed.
    *value = *begin == '-' ? -0.0 : 0.0;
    for (const char* c = begin; c != stop; ++c) {
      const bool exponent = *c == 'e' || *c == 'E';
      if (exponent && c + 1 != stop && c[1] != '-') *value = 1e308 * 10;
    }
  } else if (error != std::errc()) {
    return 0;
  }
  size_t length = static_cast<size_t>(stop - text.data());
  if (IsLetter(stop[-1])) length += FillBehindWord(text.substr(length));
  const bool more = length < text.size() && IsWordCharacter(text[length]);
  return more ? 0 : length;
}

// The name of a call that holds one number: "np.float64", "tensor", "Array".
bool HoldsNumber(std::string_view name) {
  while (!name.empty() && (IsDigit(name.back()) || name.back() == '_')) {
    name.remove_suffix(1);
  }
  constexpr std::string_view kEnds[] = {"ensor", "float", "double", "rray",
                                        "int",   "calar", "ecimal"};
  return std::any_of(
      std::begin(kEnds), std::end(kEnds),
      [name](std::string_view end) { return name.ends_with(end); });
}

// What is behind "shape=[1], dtype=float32, stop_gradient=False, ", Paddle's:
// the value stands last.
std::string_view BehindNames(std::string_view text) {
  constexpr std::string_view kBetween = ", ";
  size_t at = text.find(kBetween);
  while (at != text.npos) {
    const size_t next = text.find(kBetween, at + kBetween.size());
    const std::string_view part = text.substr(at, next - at);
    if (part.find('=') == part.npos) {
      return TrimBlanks(text.substr(at + kBetween.size()));
    }
    at = next;
  }
  return text;
}

// Returns what stands behind "<tf.Tensor: shape=(), dtype=float32, numpy=", or
// `text`, where no value is shown.
std::string_view InsideTensorFlow(std::string_view text) {
  constexpr std::string_view kValue = "numpy=";
  const size_t at = text.substr(0, text.find('>')).find(kValue);
  return at == text.npos ? text : text.substr(at + kValue.size());
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), Lower);
  return low;
}

bool Scan::To(std::string_view literal) {
  const size_t found = line_.find(literal, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + literal.size();
  return true;
}

bool Scan::Skip(std::string_view literal) {
  if (!rest().starts_with(literal)) return false;
  at_ += literal.size();
  return true;
}

void Scan::SkipBlanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

std::string_view Scan::Until(char end) {
  const size_t found = line_.find(end, at_);
  const size_t stop = found == std::string_view::npos ? line_.size() : found;
  const std::string_view text = line_.substr(at_, stop - at_);
  at_ = found == std::string_view::npos ? stop : stop + 1;
  return text;
}

std::optional<Scan::Printed> Scan::PrintedNumber() {
  size_t at = at_;
  while (at < line_.size() && (line_[at] == ' ' || line_[at] == '\t')) ++at;
  double value = 0;
  const size_t length = NumberLength(line_.substr(at), &value);
  if (length == 0) return std::nullopt;
  at_ = at + length;
  return Printed{value, line_.substr(at, length)};
}

std::optional<double> Scan::Number() {
  const std::optional<Printed> printed = PrintedNumber();
  if (!printed) return std::nullopt;
  return printed->value;
}

std::optional<int64_t> Scan::Integer() {
  size_t at = at_;
  while (at < line_.size() && (line_[at] == ' ' || line_[at] == '\t')) ++at;
  constexpr ptrdiff_t kDigits = 18;  // that cannot overflow
  const char* const begin = line_.data() + at;
  const char* const end = line_.data() + line_.size();
  uint64_t digits = 0;
  const char* stop =
      ReadDigits(begin, begin + std::min(end - begin, kDigits), &digits);
  auto value = static_cast<int64_t>(digits);
  // None, a sign, or very many digits.
  if (stop == begin || (stop != end && IsDigit(*stop))) {
    const auto result = std::from_chars(begin, end, value);
    if (result.ec != std::errc()) return std::nullopt;
    stop = result.ptr;
  }
  if (stop != end && IsWordCharacter(*stop)) return std::nullopt;
  at_ = static_cast<size_t>(stop - line_.data());
  return value;
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

namespace {

// The same of lakhs and crores, "3,10,000", "1,02,40,000": pairs, and three
// digits at the end. A list has brackets, or goes on.
std::string WithoutLakhs(std::string_view text, size_t* size) {
  constexpr size_t kPair = 2;
  constexpr size_t kLast = 3;
  size_t at = BehindDigits(text, 0);
  if (at == 0 || at > kPair || text[0] == '0') return "";
  std::string plain(text.substr(0, at));
  size_t digits = kPair;
  while (digits == kPair) {
    if (at == text.size() || text[at] != ',') return "";
    digits = BehindDigits(text, at + 1) - (at + 1);
    plain += text.substr(at + 1, digits);
    at += 1 + digits;
  }
  const char next = at < text.size() ? text[at] : ' ';
  const bool ends = !IsWordCharacter(next) && next != ']' && next != ')' &&
                    !(next == ',' && BehindDigits(text, at + 1) > at + 1);
  if (digits != kLast || !ends) return "";
  *size = at;
  return plain;
}

}  // namespace

std::string WithoutThousands(std::string_view text, size_t* size) {
  if (std::string lakhs = WithoutLakhs(text, size); lakhs.size() > 5) {
    return lakhs;
  }
  size_t at = BehindDigits(text, 0);
  const char sign = at + 4 <= text.size() ? text[at] : '\0';
  const bool parts = sign == ',' || sign == '_';
  if (at == 0 || at > 3 || !parts || text[0] == '0') return "";
  std::string plain(text.substr(0, at));
  while (at + 4 <= text.size() && text[at] == sign && IsDigit(text[at + 1]) &&
         IsDigit(text[at + 2]) && IsDigit(text[at + 3])) {
    plain += text.substr(at + 1, 3);
    at += 4;
  }
  const bool parted = plain.size() > 3;
  if (!parted || (at < text.size() && IsWordCharacter(text[at]))) return "";
  if (at < text.size() && text[at] == '.') {
    const size_t point = at;
    at = BehindDigits(text, point + 1);
    plain += text.substr(point, at - point);
  }
  *size = at;
  return plain;
}

std::string_view InsideCall(std::string_view text) {
  if (text.starts_with("<tf.")) {
    const std::string_view value = InsideTensorFlow(text);
    return value.size() < text.size() ? InsideCall(value) : text;
  }
  size_t at = 0;
  while (at < text.size() && (IsWordCharacter(text[at]) || text[at] == '.')) {
    ++at;
  }
  if (at == text.size() || text[at] != '(' ||
      !HoldsNumber(text.substr(0, at))) {
    return text;
  }
  text.remove_prefix(at + 1);
  for (const std::string_view name : {"local_tensor=", "data=", "numpy="}) {
    if (text.starts_with(name)) return InsideCall(text.substr(name.size()));
  }
  if (text.starts_with("shape=")) text = BehindNames(text);
  while (text.starts_with('[')) text.remove_prefix(1);
  return text;
}

std::optional<double> ValueAt(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" '\"[("), text.size()));
  return Scan(InsideCall(text)).Number();
}

std::optional<double> PrintedValue(std::string_view text) {
  text = TrimBlanks(text);
  const std::string_view inside = InsideCall(text);
  if (inside.size() == text.size()) return WholeNumber(text);
  Scan scan(inside);
  const std::optional<double> value = scan.Number();
  const char next = scan.peek();
  const bool first = next == ')' || next == ',' || next == ']' || next == '>';
  return first ? value : std::nullopt;
}

std::optional<int64_t> AsCount(std::optional<double> number) {
  if (!number || !(*number >= 0 && *number <= 1e15)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<double> WholeNumber(std::string_view text) {
  text = TrimBlanks(text);
  double value = 0;
  const size_t length = NumberLength(text, &value);
  if (length == 0 || length != text.size()) return std::nullopt;
  return value;
}

}  // namespace nanwatch
