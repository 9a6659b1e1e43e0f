#include "engine/batch_watch.h"

#include <algorithm>
#include <functional>

namespace nanwatch {

void BatchWatch::Add(int64_t step, uint64_t digest) {
  if (own_.count < FirstBatches::kMost) {
    if (own_.count == 0) own_.step = step;
    own_.digests[static_cast<size_t>(own_.count++)] = digest;
    if (own_.count == FirstBatches::kMost && before_) Judge();
  } else if (own_.period == 0 && digest == own_.digests[0]) {
    own_.period = step - own_.step;
  }
}

void BatchWatch::Judge() {
  const int64_t gone = own_.step - before_->step;
  // A new training begins with the same data, and so does each epoch of one
  // that has no order drawn anew.
  if (gone < FirstBatches::kMost) return;
  if (before_->period > 0 && gone % before_->period == 0) return;
  // All batches may be one.
  const bool differ =
      std::ranges::adjacent_find(own_.digests, std::not_equal_to<>()) !=
      own_.digests.end();
  if (!differ || own_.digests != before_->digests) return;
  again_ = DataAgain{own_.step, before_->step, before_->period > 0};
}

}  // namespace nanwatch
