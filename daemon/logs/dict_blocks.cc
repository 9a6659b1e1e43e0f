#include "logs/dict_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// A log step's dict, whole, that does not say its step.
bool IsLogStep(std::string_view line) {
  return line.starts_with("{'") && line.ends_with('}') &&
         line.find("'loss': ") != line.npos &&
         line.find("'learning_rate': ") != line.npos &&
         line.find("'epoch': ") != line.npos &&
         line.find("'step': ") == line.npos;
}

// "  5%|#   | 10/200 [".
bool IsUntitledBar(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && (line[at] == ' ' || IsDigit(line[at]))) ++at;
  return line.substr(at).starts_with("%|");
}

}  // namespace

// An evaluation's is shorter.
void DictBlocks::ReadBar(std::string_view line) {
  const std::optional<BarPlace> bar = BarIn(line);
  if (!bar || bar->step.whole < total_) return;
  // What is done when it is first seen to move was done before the log began.
  if (bar_ == 0 && bar->step.step > 0) step_ = bar->step.step - 1;
  total_ = bar->step.whole;
  bar_ = bar->step.step;
}

void DictBlocks::Take(std::string_view line) {
  if (one_by_one_) return sink_(line);
  // Evaluations' dicts stand among them.
  if (total_ > 0 &&
      (IsLogStep(line) || (!held_.empty() && line.starts_with("{'")))) {
    if (!newest_bar_.empty()) ReadBar(newest_bar_);
    newest_bar_.clear();
    held_.emplace_back(line);
    if (held_.size() == kMost) Flush();
    return;
  }
  Flush();
  if (IsUntitledBar(line)) {
    // Of most bars none reads the number.
    if (bar_ == 0) {
      ReadBar(line);
    } else {
      newest_bar_ = line;
    }
  }
  sink_(line);
}

// The newest bar was drawn a bit before the last dict, or behind it. Trainings
// log at multiples of 1, 2, 5 and 10.
int64_t DictBlocks::StrideOf(int64_t dicts) const {
  const int64_t span = bar_ - step_;
  const auto off = [&](int64_t stride) {
    return std::abs(dicts * stride - span);
  };
  if (stride_ > 0 && (off(stride_) <= stride_ || span <= 0)) return stride_;
  if (dicts < 2 || span <= 0) return 0;
  if (span % dicts == 0) return span / dicts;
  int64_t best = 0;
  for (int64_t ten = 1; ten <= span; ten *= 10) {
    for (const int64_t stride : {ten, 2 * ten, 5 * ten}) {
      const bool may_be = off(stride) <= stride;
      if (may_be && (best == 0 || off(stride) < off(best))) best = stride;
    }
  }
  return best;
}

void DictBlocks::Flush() {
  if (held_.empty()) return;
  const int64_t dicts = std::ranges::count_if(held_, IsLogStep);
  // The bar had moved before, and more than one came. Ranks print the same.
  const bool block =
      dicts > 1 && bar_ > 0 && std::ranges::adjacent_find(held_) == held_.end();
  one_by_one_ = stride_ == 0 && !block;
  const int64_t stride = one_by_one_ ? 0 : StrideOf(dicts);
  if (stride > 0) stride_ = stride;
  for (const std::string& dict : held_) {
    if (stride == 0 || !IsLogStep(dict)) {
      sink_(dict);
      continue;
    }
    step_ += stride;
    sink_("{'step': " + std::to_string(step_) + ", " + dict.substr(1));
  }
  held_.clear();
}

}  // namespace nanwatch
