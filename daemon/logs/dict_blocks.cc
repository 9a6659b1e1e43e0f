#include "logs/dict_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "logs/in_words.h"

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

}  // namespace

// It has no title; an evaluation's is shorter.
bool DictBlocks::TakeBar(std::string_view line) {
  if (line.find("%|") == line.npos) return false;
  const std::optional<BarPlace> bar = BarIn(line);
  const bool untitled =
      bar && line.find_first_not_of(" 0123456789") == bar->begin;
  if (!untitled || bar->step.whole < total_) return false;
  // What is done when it is first seen to move was done before the log began.
  if (bar_ == 0 && bar->step.step > 0) step_ = bar->step.step - 1;
  total_ = bar->step.whole;
  bar_ = bar->step.step;
  return true;
}

void DictBlocks::Take(std::string_view line) {
  if (total_ > 0 && !one_by_one_ && IsLogStep(line)) {
    held_.emplace_back(line);
    if (held_.size() == kMost) Flush();
    return;
  }
  Flush();
  TakeBar(line);
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

// The bar had moved before, and more than one dict came. Ranks print the same.
bool DictBlocks::AreBlocks() const {
  return held_.size() > 1 && bar_ > 0 &&
         std::ranges::adjacent_find(held_) == held_.end();
}

void DictBlocks::Flush() {
  if (held_.empty()) return;
  one_by_one_ = stride_ == 0 && !AreBlocks();
  const int64_t stride =
      one_by_one_ ? 0 : StrideOf(static_cast<int64_t>(held_.size()));
  if (stride > 0) stride_ = stride;
  for (const std::string& dict : held_) {
    if (stride == 0) {
      sink_(dict);
      continue;
    }
    step_ += stride;
    sink_("{'step': " + std::to_string(step_) + ", " + dict.substr(1));
  }
  held_.clear();
}

}  // namespace nanwatch
