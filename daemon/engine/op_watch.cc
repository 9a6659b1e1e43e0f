#include "engine/op_watch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "model/limits.h"

namespace nanwatch {
namespace {

// Of the largest finite value: near_overflow opens there, so rows below cannot
// matter.
constexpr double kNearLimit = 0.5;
// Updates that a quiet op is still watched: longer than any rule's clear.
constexpr int64_t kWatchUpdates = 512;

// Outputs near their inputs until one that is far above them is a change.
constexpr int kCalm = 16;
constexpr int kCalmest = 31;

// By Dtype: magnitudes from which a row is worth a look.
const std::array<float, 8>& NearLimits() {
  static const std::array<float, 8> all = [] {
    std::array<float, 8> limits;
    for (size_t i = 0; i < limits.size(); ++i) {
      const auto dtype = static_cast<Dtype>(i);
      // FP8 is scaled to its limit on purpose.
      limits[i] = IsFp8(dtype)
                      ? std::numeric_limits<float>::infinity()
                      : static_cast<float>(kNearLimit * MaxFinite(dtype));
    }
    return limits;
  }();
  return all;
}

constexpr uint8_t SlotBit(Slot slot) {
  return static_cast<uint8_t>(1u << static_cast<int>(slot));
}
constexpr uint8_t kForwardBits = SlotBit(Slot::kInput) | SlotBit(Slot::kOutput);
constexpr uint8_t kBackwardBits =
    SlotBit(Slot::kGradInput) | SlotBit(Slot::kGradOutput);

enum RowMark : uint8_t { kBadRow = 1 };

void MarkRows(const std::optional<SparseCounts>& column, RowMarks* marks) {
  if (!column) return;
  for (const uint32_t row : column->rows) (*marks)[row] |= kBadRow;
}

}  // namespace

void OpWatch::Expect(size_t more) {
  if (4 * more < names()) return;  // a few: as vectors grow
  names_.reserve(names() + more);
  marks_.reserve(names() + more);
}

void OpWatch::AddName(uint32_t name, Dtype dtype, int32_t order) {
  names_.push_back(name);
  Mark mark;
  mark.order = order;
  mark.dtype = static_cast<uint8_t>(dtype) & 7;
  marks_.push_back(mark);
}

void OpWatch::Renew(int64_t step, Slot slot, Mark* mark) {
  if (mark->step != step) {
    mark->step = step;
    mark->seen = mark->bad = 0;
    mark->input_max = 0;
  } else if (slot == Slot::kInput &&
             (mark->seen & SlotBit(Slot::kOutput)) != 0) {
    // The same step is tried again.
    mark->seen &= ~kForwardBits;
    mark->bad &= ~kForwardBits;
    mark->input_max = 0;
  } else if (slot == Slot::kGradOutput &&
             (mark->seen & SlotBit(Slot::kGradInput)) != 0) {
    mark->seen &= ~kBackwardBits;
    mark->bad &= ~kBackwardBits;
  }
}

uint64_t OpWatch::Take(const OpColumns& columns, bool saturation,
                       int64_t last_step, RowMarks* scratch, NameHashes names) {
  const size_t rows = columns.rows();
  scratch->assign(rows, 0);
  for (const OpCount c : {OpCount::kNan, OpCount::kPosInf, OpCount::kNegInf}) {
    MarkRows(columns.count[static_cast<int>(c)], scratch);
  }
  if (saturation) {
    MarkRows(columns.count[static_cast<int>(OpCount::kSaturated)], scratch);
  }
  MarkRows(columns.device_flag, scratch);
  const auto& abs_max = columns.stat[static_cast<int>(OpStat::kAbsMax)];
  const float* const amax = abs_max ? abs_max->values.data() : nullptr;
  // In saturation mode a status without that count is not clean, only not known
  // to be bad.
  const auto& saturated = columns.count[static_cast<int>(OpCount::kSaturated)];
  const float* const near = NearLimits().data();
  const auto& zeros = columns.count[static_cast<int>(OpCount::kZero)];
  size_t zero = 0;  // of those counts the next, and its row
  size_t with_zeros =
      !names.empty() && zeros && !zeros->rows.empty() ? zeros->rows[0] : rows;
  SparseRows sparse(columns);
  uint64_t late = 0;
  auto group = columns.groups.begin();
  // Marks have bytes, which to gcc may lie anywhere: without these it looks
  // for the columns anew in each row.
  const uint32_t* const op_of = columns.op.data();
  const Slot* const slot_of = columns.slot.data();
  const uint8_t* const bad_of = scratch->data();
  Mark* const marks = marks_.data();
  for (size_t row = 0; row < rows; ++row) {
    if (row == group->end) ++group;
    const int64_t step = group->step;
    if (step != forward_.step) NextStep(step);
    late += step < last_step;
    const Slot slot = slot_of[row];
    const uint8_t bit = SlotBit(slot);
    const uint8_t bad = bad_of[row];
    Mark& mark = marks[op_of[row]];
    Renew(step, slot, &mark);
    mark.seen |= bit;
    if ((bit & kForwardBits) != 0) {
      if (bad != 0) {
        ++forward_.bad;
      } else if (!saturation ||
                 (saturated && !TestBit(saturated->absent, row))) {
        ++forward_.clean;
      }
    }
    if (bad != 0) mark.bad |= bit;
    if (row == with_zeros) {
      if (slot == Slot::kOutput) {
        trends_.AddMask(names[names_[op_of[row]]], columns.elements[row],
                        zeros->counts[zero]);
      }
      with_zeros = ++zero < zeros->rows.size() ? zeros->rows[zero] : rows;
    }
    const bool kept = bad != 0 || (mark.hot & bit) != 0 ||
                      (amax != nullptr && amax[row] >= near[mark.dtype]);
    const bool followed = IsFollowed(mark, slot);
    if (!kept && !followed) continue;
    OpTrend trend;
    const bool odd =
        followed && Follow(columns, row, &mark, &sparse, &trend, names);
    if (kept || odd) {
      Keep(columns, row, saturation, bad != 0, odd, trend, &mark);
    }
  }
  return late;
}

// The output of an op whose input was not collected is compared with nothing.
bool OpWatch::IsFollowed(const Mark& mark, Slot slot) {
  return slot != Slot::kOutput || mark.input_max > 0 ||
         IsFp8(static_cast<Dtype>(mark.dtype));
}

bool OpWatch::Follow(const OpColumns& columns, size_t row, Mark* mark,
                     SparseRows* sparse, OpTrend* trend, NameHashes names) {
  const Slot slot = columns.slot[row];
  const auto dtype = static_cast<Dtype>(mark->dtype);
  if (IsFp8(dtype)) {
    return trends_.AddFp8(columns, row, dtype, sparse, trend);
  }
  if (IsOfGradient(slot)) {
    const bool seen = mark->gradient_seen != 0;
    mark->gradient_seen = 1;
    trends_.AddGradient(columns, row, mark->order, dtype == Dtype::kFp16, seen,
                        sparse,
                        names.empty() ? 0 : names[names_[columns.op[row]]]);
    return false;
  }
  if (slot == Slot::kParameter) {
    trend->weight_before = mark->weight;
    const bool ordinary = mark->weight >= 0;
    const std::optional<float> largest =
        trends_.AddWeight(columns, row, ordinary);
    if (!largest) return false;
    if (*largest < kWildWeight) mark->weight = *largest;
    return *largest >= kWildWeight && ordinary;
  }
  const auto& abs_max = columns.stat[static_cast<int>(OpStat::kAbsMax)];
  if (!abs_max) return false;
  const float largest = abs_max->values[row];  // 0 where absent
  if (slot == Slot::kInput) {
    mark->input_max = std::max(mark->input_max, largest);
    return false;
  }
  if (slot != Slot::kOutput || mark->input_max <= 0) return false;
  trend->input_abs_max = mark->input_max;
  trend->calm = mark->calm;
  const bool above = largest > kMutation * mark->input_max;
  if (!above && mark->calm < kCalmest) ++mark->calm;
  return above && mark->calm >= kCalm;
}

void OpWatch::NextStep(int64_t step) {
  trends_.NextStep(step);
  if (forward_.bad > 0) sums_.push_back(forward_);
  // Bounded like the pending rows that they go with.
  if (sums_.size() > static_cast<size_t>(limits::kPendingOpsPerRank)) {
    sums_.erase(sums_.begin());
  }
  forward_ = ForwardSum{.step = step};
}

InputState OpWatch::Inputs(const Mark& mark, Slot slot) {
  uint8_t of = 0;
  if (slot == Slot::kOutput || slot == Slot::kCollective) {
    of = SlotBit(Slot::kInput);
  } else if (slot == Slot::kGradInput) {
    of = SlotBit(Slot::kGradOutput);
  }
  if ((mark.seen & of) == 0) return InputState::kNotCollected;
  return (mark.bad & of) != 0 ? InputState::kBad : InputState::kClean;
}

void OpWatch::Keep(const OpColumns& columns, size_t row, bool saturation,
                   bool bad, bool odd, const OpTrend& trend, Mark* mark) {
  // Clean ones of ops that were bad once leave room for what is bad now.
  constexpr size_t kMost = limits::kPendingOpsPerRank;
  if (pending_.size() - head_ >= (bad || odd ? kMost : kMost / 2)) {
    not_kept_ += bad || odd;
    return;
  }
  PendingOp& kept = pending_.emplace_back();
  kept.status = ReadRow(columns, row);
  kept.inputs = Inputs(*mark, kept.status.slot);
  kept.bad_elements = kept.status.BadElements(saturation);
  kept.bad = kept.bad_elements > 0 || kept.status.device_flag.value_or(false);
  kept.trend = trend;
  kept.interesting =
      odd || kept.bad ||
      kept.status.get(OpStat::kAbsMax).value_or(0) >= NearLimits()[mark->dtype];
  mark->hot |= SlotBit(kept.status.slot);
}

std::span<const PendingOp> OpWatch::UpTo(int64_t step) const {
  size_t end = head_;
  while (end < pending_.size() && pending_[end].status.step <= step) ++end;
  return std::span(pending_).subspan(head_, end - head_);
}

StepOps OpWatch::Sum(std::span<const PendingOp> ops, int64_t step) const {
  StepOps sum;
  uint32_t last_bad = std::numeric_limits<uint32_t>::max();
  for (const PendingOp& op : ops) {
    if (!op.bad || op.status.step != step) continue;
    if (sum.bad_ops == 0) {
      sum.collective_first = op.status.slot == Slot::kCollective &&
                             op.inputs == InputState::kClean;
      sum.collective_nan =
          sum.collective_first && op.status.get(OpCount::kNan).value_or(0) > 0;
    }
    if (op.status.op != last_bad) ++sum.bad_ops;
    last_bad = op.status.op;
    const Slot slot = op.status.slot;
    if (sum.origin < 0 && slot != Slot::kInput && slot != Slot::kGradOutput &&
        op.inputs != InputState::kBad) {
      sum.origin = static_cast<int32_t>(op.status.op);
    }
    if (slot == Slot::kInput || slot == Slot::kOutput) {
      sum.forward_nonfinite |= op.status.BadElements(false) > 0;
    }
  }
  return sum;
}

ForwardSum OpWatch::Forward(int64_t step) const {
  if (forward_.step == step) return forward_;
  for (const ForwardSum& sum : sums_) {
    if (sum.step == step) return sum;
  }
  return {};
}

void OpWatch::Drop(size_t count) {
  if (count == 0) return;
  const int64_t step = pending_[head_ + count - 1].status.step;
  head_ += count;
  std::erase_if(sums_, [&](const ForwardSum& s) { return s.step <= step; });
  if (head_ == pending_.size()) {
    pending_.clear();
    head_ = 0;
  } else if (head_ * 2 > pending_.size()) {
    // Amortised: what is moved was paid for by what was dropped.
    pending_.erase(pending_.begin(), pending_.begin() + head_);
    head_ = 0;
  }
}

// All gradients of a large model overflow at once: they leave places for the
// forward pass and the weights.
bool OpWatch::HasPlaceFor(Slot slot) const {
  constexpr size_t kPlaces = limits::kWatchedOpsPerRank;
  if (watched_.size() >= kPlaces) return false;
  constexpr size_t kOfGradients = limits::kWatchedGradientsPerRank;
  if (!IsOfGradient(slot) || watched_.size() < kOfGradients) return true;
  return std::count_if(watched_.begin(), watched_.end(),
                       [](const WatchedOp& w) {
                         return IsOfGradient(w.slot);
                       }) < static_cast<ptrdiff_t>(kOfGradients);
}

WatchedOp* OpWatch::Watched(uint32_t op, Slot slot, bool create) {
  const auto at = std::lower_bound(
      watched_.begin(), watched_.end(), std::pair(op, slot),
      [](const WatchedOp& w, const std::pair<uint32_t, Slot>& key) {
        return std::tie(w.op, w.slot) < std::tie(key.first, key.second);
      });
  if (at != watched_.end() && at->op == op && at->slot == slot) return &*at;
  if (!create) return nullptr;
  if (!HasPlaceFor(slot)) return nullptr;
  marks_[op].hot |= SlotBit(slot);
  WatchedOp fresh;
  fresh.op = op;
  fresh.slot = slot;
  return &*watched_.insert(at, fresh);
}

void OpWatch::Forget(int64_t update) {
  std::erase_if(watched_, [&](const WatchedOp& w) {
    const bool over =
        w.rules.quiet() && update - w.last_interesting > kWatchUpdates;
    if (!over) return false;
    // What came meanwhile and is not judged yet makes the op watched again.
    for (size_t i = head_; i < pending_.size(); ++i) {
      const OpStatus& status = pending_[i].status;
      if (status.op == w.op && status.slot == w.slot) return true;
    }
    marks_[w.op].hot &= ~SlotBit(w.slot);
    return true;
  });
}

}  // namespace nanwatch
