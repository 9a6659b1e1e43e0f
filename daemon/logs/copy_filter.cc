#include "logs/copy_filter.h"

#include <algorithm>
#include <utility>

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
  ranks_ = std::max(ranks_, group->seen - group->doubles);
  if (group->seen == 1 && !group->learned) ++singles_;
  if (!group->learned) JudgeDouble(*group);
  group->learned = true;
}

// No more of the group comes from the rank that said it first.
void CopyFilter::JudgeDouble(const Group& group) {
  if (group.rank < 0 || group.key.may_repeat() || counted_twice_) return;
  two_scalers_ |= doubled_ && group.doubles == 0;
  doubled_ |= group.doubles > 0;
}

CopyFilter::Verdict CopyFilter::Judge(const LogFact& fact) {
  Key key;
  key.before = fact.scale_before.value_or(0);
  key.after = fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  key.scaler = fact.scaler.value_or(-1);
  key.step = fact.step;
  const int32_t rank = fact.rank.value_or(-1);
  if (Group* const known = Find(key)) return JudgeKnown(known, rank);
  // The one before the last is complete: late copies are not that late.
  Learn(&groups_[(newest_ + kGroups - 1) % kGroups]);
  newest_ = (newest_ + 1) % kGroups;
  latest_ = newest_;
  Begin(&groups_[newest_], key, rank);
  return Verdict::kNew;
}

CopyFilter::Verdict CopyFilter::JudgeKnown(Group* known, int32_t rank) {
  const size_t place = static_cast<size_t>(known - groups_.data());
  const Key before = groups_[latest_].key;
  const bool behind_another = std::exchange(latest_, place) != place;
  const bool may_repeat = known->key.may_repeat();
  if (rank >= 0 && rank < kRanks && known->rank >= 0) {
    // The scale is known to have been up here again.
    const bool raised = behind_another && before.before >= known->key.before;
    return JudgeNamed(known, rank, raised);
  }
  // Complete already: it happened again. So it did where a step line stands
  // between and copies are not known to come late; and, where ranks print
  // alone, at a scale that stands still.
  const bool complete = known->seen % copies() == 0;
  const bool separated = known->lines > 0;
  const bool again = separated      ? (copies() == 1 || complete)
                     : copies() > 1 ? complete
                                    : may_repeat || singles_ >= 2;
  // Behind another one, where ranks print alone: once it may be a copy that is
  // late, oftener the scale goes up and down.
  const bool returned = !again && copies() == 1 && !separated && behind_another;
  if (returned && known->returns++ == 0) return Verdict::kCopy;
  if (!again && !returned) {
    ++known->seen;
    return Verdict::kCopy;
  }
  const int32_t returns = known->returns;
  Begin(known, known->key, rank);
  known->returns = returns;
  return Verdict::kNew;
}

// Lines that name their rank need no count of copies: a rank that speaks of it
// for the first time speaks of the same overflow, if that is not long ago.
CopyFilter::Verdict CopyFilter::JudgeNamed(Group* known, int32_t rank,
                                           bool raised) {
  const size_t bit = static_cast<size_t>(rank);
  const bool first = known->rank == rank;
  const bool separated = known->lines > 0;
  // A third time: as many optimizers are not told apart by their ranks.
  const bool second = known->doubles == 0;
  if (first && second && !separated && !raised && !counted_twice_ &&
      known->key.before > 0 && !known->key.may_repeat()) {
    ++known->seen;
    ++known->doubles;
    return Verdict::kOther;
  }
  const bool again = known->ranks[bit] && (first || separated);
  if (again || known->lines > kLate) {
    Begin(known, known->key, rank);
    return Verdict::kNew;
  }
  ++known->seen;
  known->ranks.set(bit);
  return Verdict::kCopy;
}

void CopyFilter::Begin(Group* group, Key key, int32_t rank) {
  Learn(group);
  *group = {};
  group->key = key;
  group->seen = 1;
  group->rank = rank;
  if (rank >= 0 && rank < kRanks) group->ranks.set(static_cast<size_t>(rank));
}

void CopyFilter::CountedTwice() {
  counted_twice_ = true;
  two_scalers_ = false;
}

void CopyFilter::Separate() {
  for (Group& group : groups_) {
    if (group.seen == 0) continue;
    if (group.lines > 0) {
      Learn(&group);
    } else {
      JudgeDouble(group);
    }
    if (group.lines <= kLate) ++group.lines;
  }
}

}  // namespace nanwatch
