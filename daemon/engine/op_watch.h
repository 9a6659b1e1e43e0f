// OpWatch: the ops of one rank. Rows pass at a few nanoseconds each; only the
// interesting ones (bad, near the limit, or of an op that is being watched) are
// kept until the step record that they belong to arrives, and judged with it.
//
// What is interesting, and what an op's inputs were, depends on the order of
// the rows alone, never on how they were batched.

#ifndef NANWATCH_ENGINE_OP_WATCH_H_
#define NANWATCH_ENGINE_OP_WATCH_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "detect/rules.h"
#include "engine/op_trends.h"
#include "model/limits.h"
#include "model/op.h"

namespace nanwatch {

// A status that waits for its step record.
struct PendingOp {
  OpStatus status;
  InputState inputs = InputState::kNotCollected;
  uint64_t bad_elements = 0;
  bool bad = false;          // a bad element, or the device's flag
  bool interesting = false;  // bad, near the dtype's limit, or odd
  OpTrend trend;
};

// What the forward statuses (input, output) of one step say together.
struct ForwardSum {
  int64_t step = std::numeric_limits<int64_t>::min();
  uint32_t clean = 0;  // statuses without a bad element or flag
  uint32_t bad = 0;
};

// Rule state of one (op, slot), made at its first interesting status.
struct WatchedOp {
  uint32_t op = 0;
  Slot slot = Slot::kOutput;
  int64_t last_interesting = 0;  // update
  OpRules rules;
};
template <typename A>
void Fields(A& archive, WatchedOp& w) {
  archive(w.op, w.slot, w.last_interesting, w.rules);
}

// Marks of the rows of one batch that a sparse column names; kept between
// batches to spare the allocation.
using RowMarks = std::vector<uint8_t>;

// Hashes of the names of a run's ops, by their numbers; empty: not known, so
// masks are not followed.
using NameHashes = std::span<const uint64_t>;

class OpWatch {
 public:
  // Adds the next op of the session; `name` is its index in the run's names.
  // `order`: its place in the execution order; -1: unknown.
  void AddName(uint32_t name, Dtype dtype, int32_t order = -1);
  // `more` names follow: where they are many, they get no more room than that.
  void Expect(size_t more);
  size_t names() const { return marks_.size(); }
  uint32_t name(uint32_t op) const { return names_[op]; }

  // Takes in all rows. REQUIRES: every op index < names().
  // Adds to not_kept() what there was no room for.
  // `last_step`: of the rank's step records so far (INT64_MIN: none), from
  // which late rows are known; returns how many were.
  uint64_t Take(const OpColumns& columns, bool saturation, int64_t last_step,
                RowMarks* scratch, NameHashes names = {});

  // Returns the pending statuses of steps up to `step`, in the order they came.
  std::span<const PendingOp> UpTo(int64_t step) const;
  // Returns what they say together; only those of exactly `step`.
  StepOps Sum(std::span<const PendingOp> ops, int64_t step) const;
  ForwardSum Forward(int64_t step) const;
  // Returns what all statuses of `step` say together; see OpTrends::At.
  OpTrends::OfStep All(int64_t step) { return trends_.At(step); }
  // Returns the largest of the weights of `step` but for those of `op`; -1
  // where it is not known.
  float OtherWeights(int64_t step, uint32_t op) const {
    return trends_.OtherWeights(step, op);
  }
  LayerWatch& layers() { return trends_.layers(); }
  const LayerWatch& layers() const { return trends_.layers(); }
  // Forgets the first `count` pending ones: they are judged.
  void Drop(size_t count);
  bool pending() const { return head_ < pending_.size(); }
  const PendingOp& oldest() const { return pending_[head_]; }
  const PendingOp& pending_at(size_t i) const { return pending_[head_ + i]; }
  int64_t newest_step() const { return forward_.step; }

  // Returns the rule state of (op, slot); null where there is none, and none is
  // wanted or there is no room. A pointer is good until the next call.
  WatchedOp* Watched(uint32_t op, Slot slot, bool create);
  // Forgets what has been quiet and clean for long.
  void Forget(int64_t update);
  std::span<const WatchedOp> watched() const { return watched_; }
  uint64_t not_kept() const { return not_kept_; }

  template <typename A>
  friend void Fields(A& archive, OpWatch& w) {
    archive(w.names_, w.marks_, w.pending_, w.forward_, w.sums_, w.watched_,
            w.not_kept_, w.trends_);
  }

 private:
  struct Mark {
    int64_t step = std::numeric_limits<int64_t>::min();
    float weight = -1;    // see OpTrend::weight_before
    float input_max = 0;  // largest magnitude of its input at `step`
    int32_t order = -1;
    uint8_t seen = 0;  // bit a slot, at `step`
    uint8_t bad = 0;
    uint8_t hot : 7 = 0;  // bit a slot: take clean rows as well
    uint8_t gradient_seen : 1 = 0;
    uint8_t calm : 5 = 0;   // see OpTrend
    uint8_t dtype : 3 = 0;  // Dtype
  };
  static_assert(sizeof(Mark) + sizeof(uint32_t) <= limits::kRankOpBytes);
  // Begins the mark of `step`, or of its part that is tried again.
  static void Renew(int64_t step, Slot slot, Mark* mark);
  // False: nothing is kept of such a row, nor is it compared.
  static bool IsFollowed(const Mark& mark, Slot slot);
  // True: the row is worth a look though it is not bad.
  bool Follow(const OpColumns& columns, size_t row, Mark* mark,
              SparseRows* sparse, OpTrend* trend, NameHashes names);

  void Keep(const OpColumns& columns, size_t row, bool saturation, bool bad,
            bool odd, const OpTrend& trend, Mark* mark);
  void NextStep(int64_t step);
  bool HasPlaceFor(Slot slot) const;
  static InputState Inputs(const Mark& mark, Slot slot);

  std::vector<uint32_t> names_;
  std::vector<Mark> marks_;  // by op
  std::vector<PendingOp> pending_;
  size_t head_ = 0;  // of pending_
  ForwardSum forward_;
  std::vector<ForwardSum> sums_;    // of earlier steps with a bad op
  std::vector<WatchedOp> watched_;  // by (op, slot)
  uint64_t not_kept_ = 0;
  OpTrends trends_;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OP_WATCH_H_
