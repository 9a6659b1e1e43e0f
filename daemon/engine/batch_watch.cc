#include "engine/batch_watch.h"

#include <algorithm>

namespace nanwatch {

void BatchWatch::Continue(const FirstBatches& before) {
  if (newest_) return;
  first_ = before;
  restarted_ = true;
  same_ = 0;
}

void BatchWatch::Add(int64_t step, uint64_t digest) {
  if (newest_ && step <= *newest_) return;
  newest_ = step;
  if (same_ >= 0) Compare(step, digest);
  // What is taken anew says nothing of the order of the data.
  if (!again_ && same_ < 1) Learn(step, digest);
}

void BatchWatch::Compare(int64_t step, uint64_t digest) {
  const auto at = static_cast<size_t>(same_);
  if (at >= first_.batches.size() || first_.batches[at].digest != digest) {
    same_ = -1;
    return;
  }
  if (same_++ == 0) seen_.step = step;
  seen_.last = step;
  if (same_ == kCompared) Judge();
}

void BatchWatch::Judge() {
  const std::vector<FirstBatches::Batch>& batches = first_.batches;
  seen_.run_step = batches.front().step;
  seen_.run_last = batches[kCompared - 1].step;
  same_ = -1;
  const int64_t gone = seen_.step - seen_.run_step;
  // A new training begins with the same data, and so does each epoch of one
  // that has no order drawn anew. All batches may be one.
  if (gone < kCompared || batches[0].digest == batches[1].digest) return;
  if (first_.period > 0 && gone % first_.period == 0) return;
  seen_.how = first_.period > 0             ? DataAgain::How::kInEpoch
              : first_.newest >= seen_.step ? DataAgain::How::kAnew
                                            : DataAgain::How::kNotSure;
  again_ = seen_;
}

void BatchWatch::Learn(int64_t step, uint64_t digest) {
  std::vector<FirstBatches::Batch>& batches = first_.batches;
  const bool next =
      batches.empty() || (restarted_ ? step == batches.back().step + 1
                                     : step > batches.back().step);
  if (next && batches.size() < FirstBatches::kMost) {
    batches.push_back({step, digest});
  } else if (first_.period == 0) {
    const auto same =
        std::ranges::find(batches, digest, &FirstBatches::Batch::digest);
    if (same != batches.end() && step - same->step >= kCompared) {
      first_.period = step - same->step;
    }
  }
  first_.newest = std::max(first_.newest, step);
}

}  // namespace nanwatch
