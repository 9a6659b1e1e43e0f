// AlignedRing: the last steps of the ranks that must agree, side by side. A
// slot is one (step, n-th try); slots are judged once and in order: when every
// open member has passed it, when the fastest is limits::kAlignedLeadSteps
// ahead, or limits::kAlignedWaitSeconds after its first record. A member
// without a record there is not collected: neither equal nor different.

#ifndef NANWATCH_ENGINE_ALIGNED_RING_H_
#define NANWATCH_ENGINE_ALIGNED_RING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "detect/context.h"
#include "engine/place.h"
#include "scaler/tracker.h"

namespace nanwatch {

class AlignedRing {
 public:
  // Takes in that a member went from `was` to `at` with this record, of this
  // fate; `ops`: what its op statuses of the step say. `places`: where every
  // open member stands now, this one included; read only when ranks overtook
  // each other.
  template <typename Places>
  void Add(Place was, Place at, int32_t rank, const StepRecord& record,
           Fate fate, Places&& places, const StepOps& ops = {}) {
    if (at.step > fastest_) fastest_ = at.step;
    Slot* slot = Pass(was, at);
    if (at <= judged_) return;  // too late
    if (slot == nullptr) {
      const bool newest = slots_.empty() || slots_.back().place < at;
      slot = Insert(at, record.time);
      if (newest && at.step == fastest_ && at.retry == 0) {
        slot->passed = 1;  // nobody was here before
      } else {
        slot->passed = CountPassed(at, places());
      }
    }
    Note(slot, rank, record, fate);
    NoteReplica(rank, record, &slot->step);
    NoteOps(rank, ops, &slot->step);
  }

  // Counts anew: a member opened, or was lost or closed. It stands at `at`.
  void Join(Place at);
  void Leave(Place at);

  // The next slot that is to be judged at `now`, in order; nullopt: none.
  // `members`: open ones.
  struct Judged {
    AlignedStep step;  // without its group and `expected`
    Time time{};       // of its newest record
  };
  std::optional<Judged> Next(int32_t members, Time now);
  // Returns when the oldest slot has waited long enough.
  std::optional<Time> Due() const;
  // What is of the future is of a clock that was wrong.
  void NotAfter(Time now);
  bool empty() const { return head_ == slots_.size(); }

  template <typename A>
  friend void Fields(A& archive, AlignedRing& r) {
    archive(r.slots_, r.head_, r.fastest_, r.judged_);
  }

 private:
  struct Slot {
    Place place;
    Time first{};
    Time last{};
    int32_t passed = 0;  // open members at or beyond this place
    AlignedStep step;
  };

  // Counts the member in the slots after `was` up to `at`, and returns that of
  // `at`; null: there is none.
  Slot* Pass(Place was, Place at);
  // Returns where in slots_ `at` is, or would be inserted.
  size_t Find(Place at) const;
  Slot* Insert(Place at, Time time);
  static int32_t CountPassed(Place at, std::span<const Place> places);
  static void Note(Slot* slot, int32_t rank, const StepRecord& record,
                   Fate fate);
  static void NoteReplica(int32_t rank, const StepRecord& record,
                          AlignedStep* step);
  static void NoteOps(int32_t rank, const StepOps& ops, AlignedStep* step);

  std::vector<Slot> slots_;  // rising; [head_, end) wait
  size_t head_ = 0;
  int64_t fastest_ = INT64_MIN;
  Place judged_;  // nothing up to here is looked at any more
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ALIGNED_RING_H_
