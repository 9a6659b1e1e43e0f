#include "logs/pair_lists.h"

#include <optional>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kOpens = "[('";
constexpr std::string_view kOthers[] = {"loss", "Loss", "LOSS", "best", "Best"};

// Returns where the value that begins at `at` ends, before the parenthesis that
// closes its pair; npos: it is torn.
size_t EndOfValue(std::string_view text, size_t at) {
  char quote = '\0';
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) return c == ')' ? at : text.npos;
    }
  }
  return text.npos;
}

// Adds the pair that `scan` is at, behind its parenthesis and quote, to `*dict`
// and goes behind it. Nullopt: it is none. Else whether it is the number of a
// loss.
std::optional<bool> ReadPair(std::string_view text, Scan* scan,
                             std::string* dict) {
  const std::string_view name = scan->Until('\'');
  if (name.empty() || !scan->Skip(", ")) return std::nullopt;
  const size_t begin = scan->at();
  const size_t end = EndOfValue(text, begin);
  if (end == text.npos) return std::nullopt;
  const std::string_view value = text.substr(begin, end - begin);
  *scan = Scan(text, end + 1);
  if (dict->size() > 1) *dict += ", ";
  dict->append("'").append(name).append("': ").append(value);
  return name.ends_with("loss") && PrintedValue(value);
}

}  // namespace

std::string_view WithDictOfPairs(std::string_view line, std::string* out) {
  const size_t at = line.find(kOpens);
  if (at == line.npos) return line;
  std::string dict = "{";
  bool loss = false;
  Scan scan(line, at + kOpens.size());
  do {
    const std::optional<bool> pair = ReadPair(line, &scan, &dict);
    if (!pair) return line;
    loss |= *pair;
  } while (scan.Skip(", ('"));
  if (!loss || !scan.Skip("]")) return line;
  dict += '}';
  constexpr std::string_view kOrdered = "OrderedDict(";
  std::string_view before = line.substr(0, at);
  if (before.ends_with(kOrdered) && scan.Skip(")")) {
    before.remove_suffix(kOrdered.size());
  }
  // Beside a loss these are terms, or the best there was.
  const bool beside =
      HasOneOf(before, kOthers) || HasOneOf(scan.rest(), kOthers);
  if (beside) return line;
  out->assign(before).append(dict).append(scan.rest());
  return *out;
}

}  // namespace nanwatch
