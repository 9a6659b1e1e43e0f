#include "logs/unread_kinds.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "logs/boxed_record.h"
#include "logs/find_word.h"
#include "logs/in_words.h"

namespace nanwatch {
namespace {

// Lines with these say nothing of a step's loss.
constexpr std::string_view kOthers[] = {"cale", "best", "Best", "eight"};

}  // namespace

void UnreadKinds::Note(std::string_view line, uint64_t number) {
  if (!HasWord(line, "oss") || !row_.Read(line) || IsEvaluation(line)) return;
  if (BoxedRecord().Take(line)) return;  // it is read with its box
  const bool other = std::any_of(
      std::begin(kOthers), std::end(kOthers),
      [line](std::string_view word) { return HasWord(line, word); });
  const bool real = std::any_of(
      row_.numbers().begin(), row_.numbers().end(),
      [](const RowNumber& n) { return !n.whole && !n.share && !n.unit; });
  if (other || !real) return;
  const bool bad = std::ranges::any_of(row_.numbers(), [](const RowNumber& n) {
    return !std::isfinite(n.value);
  });
  const auto found = std::find_if(
      kinds_.begin(), kinds_.end(),
      [this](const Kind& kind) { return kind.words == row_.words(); });
  if (found != kinds_.end()) {
    ++found->lines;
    found->bad = bad ? found->bad + 1 : 0;
  } else if (kinds_.size() < kKinds) {
    kinds_.push_back({row_.words(), 1, number, bad});
  }
}

UnreadKinds::Kind UnreadKinds::most() const {
  const auto most = std::max_element(
      kinds_.begin(), kinds_.end(),
      [](const Kind& a, const Kind& b) { return a.lines < b.lines; });
  return most == kinds_.end() ? Kind() : *most;
}

}  // namespace nanwatch
