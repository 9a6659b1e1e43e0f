// OpLedger: the ops of a run that were ever bad, over all ranks: the part of
// the evidence that names a culprit. At most limits::kOpEvidence; of more, the
// earliest by (step, execution order) stay, but of skipped updates what is over
// gives way to what is bad now, and gradients to the forward pass.

#ifndef NANWATCH_ENGINE_OP_LEDGER_H_
#define NANWATCH_ENGINE_OP_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/evidence.h"
#include "engine/op_watch.h"
#include "engine/state_fields.h"
#include "model/snapshot.h"

namespace nanwatch {

// What a step record says of the update that an op was looked at in.
struct OpUpdate {
  enum class Outcome : uint8_t { kNotTold, kFine, kHarmed };

  // How many of the rank's updates so far say something of ops
  // (RankState::looks), this one included.
  int64_t number = 0;
  std::optional<double> scale;
  bool lost = false;  // its update; else it may have been applied
  Outcome outcome = Outcome::kNotTold;
};

class OpLedger {
 public:
  // Takes in one judged status of `rank`. True when it is news that may change
  // a diagnosis: a new op, or worse than ever.
  bool Add(const PendingOp& op, const OpName& name, int32_t rank,
           const OpUpdate& update, bool saturation);

  bool empty() const { return entries_.empty(); }
  bool full() const;
  bool Lists(const OpName& name, Slot slot) const;
  // Returns the evidence, first cause first. `updates(rank)`: updates of a
  // rank so far, counted as those of an op.
  template <typename Updates>
  std::vector<OpEvidence> Evidence(Updates&& updates) const {
    std::vector<OpEvidence> all;
    for (const Entry* entry : InOrder()) {
      OpEvidence& e = all.emplace_back(entry->evidence);
      e.fine_steps = entry->fine_steps.count;
      for (const auto& [rank, at] : entry->ranks) {
        e.outcomes.fine += at.outcomes.fine;
        e.outcomes.harmed += at.outcomes.harmed;
        if (at.outcomes.AreWorseThan(e.outcomes_of_worst)) {
          e.outcomes_of_worst = at.outcomes;
        }
        // Of one that closed, or where it is bad no more, they stay for ever.
        if (e.last_bad_step - at.last_step <= kNewest &&
            at.NewestOutcomes().AreWorseThan(e.newest_of_worst)) {
          e.newest_of_worst = at.NewestOutcomes();
        }
        if (at.bad_updates <= e.bad_updates) continue;
        e.bad_updates = at.bad_updates;
        e.updates = static_cast<uint64_t>(updates(rank) - at.first_update + 1);
      }
    }
    return all;
  }
  // Returns the origins of `causes` first, then what was bad first, at most
  // limits::kTopOps: an origin stands above its victims.
  std::vector<OpView> Top(std::span<const CauseVerdict> causes) const;

  template <typename A>
  friend void Fields(A& archive, OpLedger& l) {
    archive(l.entries_);
  }

 private:
  static constexpr int kNewest = 64;  // outcomes, or steps
  struct OnRank {
    int64_t first_update = 0;
    int64_t last_update = -1;
    int64_t last_step = 0;
    uint64_t bad_updates = 0;
    OpOutcomes outcomes;
    uint64_t newest = 0;  // a bit each, 1 where harmed; the newest is the last

    // True: by the newest alone it may do harm now, or none any more.
    bool Note(bool harmed);
    OpOutcomes NewestOutcomes() const;
  };
  // Steps, each counted once, though ranks come in any order and lag behind.
  struct StepCount {
    uint64_t count = 0;
    int64_t newest = 0;
    uint64_t seen = 0;  // of the newest 64; its own is the last bit

    void Add(int64_t step);
  };
  struct Entry {
    OpEvidence evidence;
    std::map<int32_t, OnRank> ranks;
    StepCount fine_steps;
    int32_t newest_rank = -1;
    uint64_t newest_bad = 0;
    std::optional<float> abs_max;
    template <typename A>
    friend void Fields(A& archive, Entry& e) {
      archive(e.evidence, e.ranks, e.fine_steps, e.newest_rank, e.newest_bad,
              e.abs_max);
    }
  };
  Entry* Find(const OpName& name, Slot slot);
  // False: `e` has no place; else there is room for it.
  bool MakeRoom(const OpEvidence& e);
  Entry* Make(const PendingOp& op, const OpName& name, int32_t rank);
  static bool AddBad(const PendingOp& op, const OpName& name, int32_t rank,
                     const OpUpdate& update, Entry* entry);
  std::vector<const Entry*> InOrder() const;

  std::vector<Entry> entries_;  // in the order they turned bad
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OP_LEDGER_H_
