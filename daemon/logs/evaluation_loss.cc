#include "logs/evaluation_loss.h"

#include <cmath>
#include <optional>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// In eval, val, valid and validation.
constexpr std::string_view kMark = "val";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// Behind the mark: "_loss': nan", "idation loss: nan", "/loss=inf", " loss
// nan". The size of the name's rest; 0: it is finite, or another name.
size_t SizeOfName(std::string_view text) {
  Scan scan(text);
  if (!scan.Skip("idation")) scan.Skip("id");
  if (!scan.Skip('_') && !scan.Skip('/') && !scan.Skip(' ')) return 0;
  if (!scan.Skip("loss")) return 0;
  const size_t size = scan.at();
  if (!scan.Skip('\'')) scan.Skip('"');
  if (!scan.Skip(':') && !scan.Skip('=') && scan.peek() != ' ') return 0;
  scan.SkipBlanks();
  if (!scan.Skip('\'')) scan.Skip('"');
  const std::optional<double> value = scan.Number();
  return value && !std::isfinite(*value) ? size : 0;
}

}  // namespace

// Of every line of a large log: hardly one holds the name.
void EvaluationLoss::Look(std::string_view line) {
  ++lines_;
  size_t at = 0;
  while (found_ == 0) {
    // Faster than looking for the mark: few lines have the letter.
    size_t begin = line.find(kMark.front(), at);
    if (begin == std::string_view::npos) return;
    if (!line.substr(begin).starts_with(kMark)) {
      at = begin + 1;
      continue;
    }
    at = begin + kMark.size();
    if (begin > 0 && line[begin - 1] == 'e') --begin;
    if (begin > 0 && IsLetter(line[begin - 1])) continue;
    const size_t rest = SizeOfName(line.substr(at));
    if (rest == 0) continue;
    found_ = lines_;
    name_ = line.substr(begin, at + rest - begin);
  }
}

}  // namespace nanwatch
