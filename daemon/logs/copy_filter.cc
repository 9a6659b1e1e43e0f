#include "logs/copy_filter.h"

#include <algorithm>

namespace nanwatch {

CopyFilter::Group* CopyFilter::Find(const Key& key) {
  for (size_t back = 0; back < kGroups; ++back) {
    Group& group = groups_[(newest_ + kGroups - back) % kGroups];
    if (group.seen > 0 && group.key == key) return &group;
  }
  return nullptr;
}

// The end of a group whose overflow cannot have happened twice: so many ranks
// print. Torn lines make it smaller, never larger.
void CopyFilter::Learn(Group* group) {
  if (group->seen == 0 || group->key.may_repeat()) return;
  copies_ = std::max(copies_, group->seen);
  if (group->seen == 1 && !group->learned) ++singles_;
  group->learned = true;
}

CopyFilter::Verdict CopyFilter::Judge(const LogFact& fact) {
  Key key;
  key.before = fact.scale_before.value_or(0);
  key.after = fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  key.scaler = fact.scaler.value_or(-1);
  key.step = fact.step;
  const int32_t rank = fact.rank.value_or(-1);
  Group* known = Find(key);
  if (known != nullptr && rank >= 0 && known->rank == rank &&
      !known->separated && !key.may_repeat()) {
    ++known->seen;
    return Verdict::kOther;
  }
  if (known != nullptr) {
    // Complete already: it happened again. So it did where a step line stands
    // between and copies are not known to come late; and, where ranks print
    // alone, at a scale that stands still.
    const bool complete = known->seen % copies_ == 0;
    const bool again = known->separated ? (copies_ == 1 || complete)
                       : copies_ > 1    ? complete
                                        : key.may_repeat() || singles_ >= 2;
    if (!again) {
      ++known->seen;
      return Verdict::kCopy;
    }
    Learn(known);
    *known = {key, 1, rank, false};
    return Verdict::kNew;
  }
  // The one before the last is complete: late copies are not that late.
  Learn(&groups_[(newest_ + kGroups - 1) % kGroups]);
  newest_ = (newest_ + 1) % kGroups;
  groups_[newest_] = {key, 1, rank, false};
  return Verdict::kNew;
}

void CopyFilter::Separate() {
  for (Group& group : groups_) {
    if (group.seen == 0) continue;
    if (group.separated) Learn(&group);
    group.separated = true;
  }
}

}  // namespace nanwatch
