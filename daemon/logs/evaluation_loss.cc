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

// A table's header: the first column of an evaluation's loss, "val/box_loss".
void EvaluationLoss::TakeHeader(std::string_view line) {
  const char separator = SeparatorOf(line);
  if (!row_.Split(line, separator) || row_.cells().size() < 3) return;
  for (size_t i = 0; i < row_.cells().size(); ++i) {
    const std::string_view cell = row_.cells()[i];
    if (WholeNumber(cell)) return;
    if (column_ == 0 && cell.starts_with(kMark) && cell.ends_with("loss")) {
      column_ = i;
      separator_ = separator;
      column_name_ = cell;
      columns_ = row_.cells().size();
    }
  }
}

void EvaluationLoss::LookAtRow(std::string_view line) {
  if (!row_.Split(line, separator_) || row_.cells().size() != columns_) return;
  const std::optional<double> value = WholeNumber(row_.cells()[column_]);
  if (!value || std::isfinite(*value)) return;
  found_ = lines_;
  name_ = column_name_;
}

// Of every line of a large log: hardly one holds the name.
void EvaluationLoss::Look(std::string_view line) {
  ++lines_;
  if (column_ > 0 && found_ == 0) LookAtRow(line);
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
    if (rest == 0) {
      if (column_ == 0 && headers_++ < kHeaders) TakeHeader(line);
      continue;
    }
    found_ = lines_;
    name_ = line.substr(begin, at + rest - begin);
  }
}

}  // namespace nanwatch
