#include "engine/aligned_ring.h"

#include <algorithm>
#include <cmath>

#include "model/limits.h"

namespace nanwatch {

AlignedRing::Slot* AlignedRing::Pass(Place was, Place at) {
  const size_t found = Find(at);
  const bool there = found < slots_.size() && slots_[found].place == at;
  for (size_t i = found + (there ? 1 : 0); i > head_; --i) {
    Slot& slot = slots_[i - 1];
    if (slot.place <= was) break;
    ++slot.passed;
  }
  return there ? &slots_[found] : nullptr;
}

size_t AlignedRing::Find(Place at) const {
  if (empty() || slots_.back().place < at) return slots_.size();
  // Steps mostly follow each other without a gap or a second try.
  const int64_t ahead = at.step - slots_[head_].place.step;
  const size_t waiting = slots_.size() - head_;
  if (ahead >= 0 && ahead < static_cast<int64_t>(waiting)) {
    const size_t guess = head_ + static_cast<size_t>(ahead);
    if (slots_[guess].place == at) return guess;
  }
  const auto slot = std::lower_bound(
      slots_.begin() + head_, slots_.end(), at,
      [](const Slot& s, const Place& place) { return s.place < place; });
  return static_cast<size_t>(slot - slots_.begin());
}

AlignedRing::Slot* AlignedRing::Insert(Place at, Time time) {
  if (head_ == slots_.size()) {
    slots_.clear();
    head_ = 0;
  } else if (head_ >= static_cast<size_t>(limits::kAlignedSlots)) {
    slots_.erase(slots_.begin(), slots_.begin() + head_);
    head_ = 0;
  }
  Slot slot;
  slot.place = at;
  slot.first = slot.last = time;
  slot.step.step = at.step;
  slot.step.try_of_step = at.retry;
  const auto where = slots_.begin() + static_cast<ptrdiff_t>(Find(at));
  return &*slots_.insert(where, slot);
}

int32_t AlignedRing::CountPassed(Place at, std::span<const Place> places) {
  return static_cast<int32_t>(std::count_if(
      places.begin(), places.end(), [&](const Place& p) { return p >= at; }));
}

void AlignedRing::Note(Slot* slot, int32_t rank, const StepRecord& record,
                       Fate fate) {
  AlignedStep& step = slot->step;
  slot->first = std::min(slot->first, record.time);
  slot->last = std::max(slot->last, record.time);
  ++step.seen;
  if (const auto scale = record.get(StepField::kLossScale)) {
    step.scale.Add(rank, *scale);
  }
  const auto lowest = [rank](int32_t* of) {
    if (*of < 0 || rank < *of) *of = rank;
  };
  if (fate == Fate::kLost) {
    ++step.skipped;
    lowest(&step.first_skipped_rank);
  } else if (fate == Fate::kApplied) {
    ++step.applied;
    lowest(&step.first_applied_rank);
  }
}

void AlignedRing::NoteReplica(int32_t rank, const StepRecord& record,
                              AlignedStep* step) {
  const auto norm = record.get(StepField::kGradNorm);
  const auto loss = record.get(StepField::kLoss);
  if (norm || loss) {
    ++step->judged_finite;
    if ((norm && !std::isfinite(*norm)) || (loss && !std::isfinite(*loss))) {
      ++step->nonfinite;
      if (step->nonfinite_rank < 0 || rank < step->nonfinite_rank) {
        step->nonfinite_rank = rank;
      }
    }
  }
  if (norm && *norm > 0 && std::isfinite(*norm)) {
    const double largest = step->norm.max;  // 0: it is the first
    step->norm.Add(rank, *norm);
    step->norm_second = std::max(step->norm_second, std::min(largest, *norm));
  }
  if (loss && std::isfinite(*loss)) step->loss.Add(rank, *loss);
  const auto rate = record.get(StepField::kLearningRate);
  if (rate && std::isfinite(*rate)) step->rate.Add(rank, *rate);
  if (record.replica_digest) step->digest.Add(rank, *record.replica_digest);
}

void AlignedRing::NoteOps(int32_t rank, const StepOps& ops, AlignedStep* step) {
  step->ops_collected += ops.collected;
  if (ops.bad_ops == 0) return;
  if (!ops.collective_first) {
    ++step->bad_first;
    return;
  }
  ++step->collective_first;
  step->collective_nan += ops.collective_nan;
  if (step->collective_rank < 0 || rank < step->collective_rank) {
    step->collective_rank = rank;
  }
}

void AlignedRing::Join(Place at) {
  for (size_t i = head_; i < slots_.size() && slots_[i].place <= at; ++i) {
    ++slots_[i].passed;
  }
}

void AlignedRing::Leave(Place at) {
  for (size_t i = head_; i < slots_.size() && slots_[i].place <= at; ++i) {
    --slots_[i].passed;
  }
}

std::optional<AlignedRing::Judged> AlignedRing::Next(int32_t members,
                                                     Time now) {
  if (empty()) return std::nullopt;
  const Slot& slot = slots_[head_];
  const bool complete = slot.passed >= members;
  const bool left_behind =
      fastest_ - slot.place.step >= limits::kAlignedLeadSteps ||
      slots_.size() - head_ > static_cast<size_t>(limits::kAlignedSlots);
  if (!complete && !left_behind && now < *Due()) return std::nullopt;
  judged_ = slot.place;
  Judged judged{.step = slot.step, .time = slot.last};
  ++head_;
  return judged;
}

void AlignedRing::NotAfter(Time now) {
  for (Slot& slot : slots_) {
    slot.first = std::min(slot.first, now);
    slot.last = std::min(slot.last, now);
  }
}

std::optional<Time> AlignedRing::Due() const {
  if (empty()) return std::nullopt;
  return slots_[head_].first +
         std::chrono::seconds(limits::kAlignedWaitSeconds);
}

}  // namespace nanwatch
