// Snapshot: what the engine publishes for everyone who only reads. Immutable;
// publishing rebuilds only what was touched and shares the rest.

#ifndef NANWATCH_MODEL_SNAPSHOT_H_
#define NANWATCH_MODEL_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/benchmark.h"
#include "model/diagnosis.h"
#include "model/incident.h"
#include "model/rank.h"
#include "model/records_ended.h"
#include "model/run.h"
#include "model/step.h"

namespace nanwatch {

enum class LifeState : uint8_t { kOpen, kLost, kClosed };
std::string_view Name(LifeState state);

// The newest values of a step's numbers. `last` may be NaN or infinite.
struct LatestValues {
  std::array<std::optional<double>, kStepFields> last;
  std::array<std::optional<double>, kStepFields> last_finite;
  std::array<uint64_t, kStepFields> nonfinite{};  // values ever
};

struct StepTotals {
  uint64_t steps = 0;  // records
  uint64_t overflows = 0;
  uint64_t overflow_unknown =
      0;  // neither flag nor float status: not collected
  uint64_t skipped = 0;
  uint64_t fate_unknown = 0;  // nothing says whether the update was applied
  uint64_t op_statuses = 0;
  uint64_t dropped_steps = 0;  // that the client could not keep
  uint64_t dropped_ops = 0;
};

// True unless all of `all` are among the `unknown`: a count over none is no
// count.
inline bool Collected(uint64_t all, uint64_t unknown) {
  return all == 0 || unknown < all;
}

struct RankView {
  RankDescription description;
  LifeState state = LifeState::kOpen;
  int64_t last_step = 0;
  Time last_record{};
  LatestValues latest;
  StepTotals totals;
  Duration clock_skew{};
  Severity severity = Severity::kNone;  // worst of its findings, under ceilings
};
inline constexpr int kRankBlock = 64;
using RankBlock = std::vector<RankView>;  // at most kRankBlock, by rank

struct OpView {
  std::string name;
  std::string type;
  uint64_t bad_statuses = 0;  // statuses with a bad element or a device flag
  uint64_t bad_elements = 0;  // in the newest bad status
  int64_t first_bad_step = 0;
  int64_t last_bad_step = 0;
  int32_t rank = -1;  // of the newest bad status
  Slot slot = Slot::kOutput;
  std::optional<float> abs_max;
  uint64_t padding = 0;
};

// Layer-wise loss scales: the lowest and the highest of the newest records of
// all ranks. A scale that is NaN or infinite counts as the lowest.
struct LayerScalesView {
  uint32_t layers = 0;  // of the rank with the lowest
  double lowest = 0;
  std::string lowest_op;
  int32_t lowest_rank = 0;
  double highest = 0;
  std::string highest_op;
  int32_t highest_rank = 0;
};

// Which loss scales suit a layer, of all ranks that tell of it; absent: not
// known.
struct LayerRangeView {
  std::string name;
  std::optional<double> lowest;   // that it needs
  std::optional<double> highest;  // that it bears
  std::optional<double> scale;    // its own, newest; of the lowest rank
  double lost = 0;                // share of its elements, at its scale
  uint32_t attempts = 0;
  // Some of it is lost: what it needs is a fit to what is left. All of it is:
  // bounds.
  bool cut = false;
  bool all_lost = false;
  bool outside = false;  // its scale does not suit it
  bool fp8 = false;      // its scale is that of a tensor, and no loss scale
  std::optional<uint32_t> group;  // absent: none suits it, or it is not known
};
struct ScaleGroupView {
  double scale = 0;  // that suits all its layers
  double lowest = 0;
  double highest = 0;
  bool bound = false;  // of one of them all is lost: it needs that at least
};
struct LayerRangesView {
  std::vector<LayerRangeView> layers;  // in the order of the forward pass
  std::vector<ScaleGroupView> groups;  // as few as can be, by rising scale
};

// The loss scaler as declared, recognised or neither.
struct ScalerView {
  std::string name;         // catalog name; empty: unknown
  bool recognised = false;  // from its transitions, not declared
  std::optional<double> floor;
  std::optional<int64_t> updates_to_floor;  // forecast; absent: not falling
  uint64_t impossible_transitions = 0;
  std::optional<LayerScalesView> layers;  // absent: not collected
};

struct RunView {
  RunKey key;
  RunDescription description;
  LifeState state = LifeState::kOpen;
  std::string end_reason;
  Time opened{};
  Time last_record{};
  std::optional<Time> ended;
  // Absent: records may follow, or nobody said that none do (the run was lost,
  // or its history is from before that was kept): it is not judged to its end.
  std::optional<RecordsEnded> records_ended;
  // Why it ended, or is about to; absent: all ranks that ended did in order.
  std::optional<RankEnd> rank_end;
  int64_t last_step = 0;     // largest of its ranks
  int64_t judged_since = 0;  // step; > first when history was incomplete
  LatestValues latest;       // of the lowest rank that reports each
  StepTotals totals;         // of all ranks; steps count records
  // Of the newest record with an overflow; absent: none yet.
  std::optional<int64_t> last_overflow_step;
  int32_t last_overflow_rank = -1;
  uint64_t updates = 0;       // records of the lowest rank
  uint64_t applied = 0;       // of those, not skipped
  uint64_t fate_unknown = 0;  // of those: applied or skipped, nothing says
  ScalerView scaler;
  Severity severity = Severity::kNone;           // worst firing incident
  std::array<Severity, kFamilies> family{};      // worst firing by family
  std::array<uint64_t, kFamilies> detections{};  // incidents ever fired
  Diagnosis diagnosis;
  std::vector<Incident> incidents;  // open ones first, then newest resolved
  std::vector<std::shared_ptr<const RankBlock>> ranks;
  // Null: nothing of gradients in fp16 or FP8 was told. At most a second old.
  std::shared_ptr<const LayerRangesView> layer_ranges;
  // What its losses are held against, and how they compare; null and absent:
  // nothing.
  std::shared_ptr<const Benchmark> bench;
  std::optional<BenchmarkView> benchmark;
  std::vector<OpView> top_ops;  // origins first, at most limits::kTopOps
  uint64_t ranks_open = 0;
  uint64_t ranks_lost = 0;
  std::optional<std::string> stop_requested;  // reason, by whom
};

// Returns the worst of all incidents that ever fired: what remains when a run
// has ended and everything is resolved. A program's word that it cannot go on
// is critical.
Severity WorstEver(const RunView& run);
// Returns that of the attempts of one run, in their order. What was critical is
// a warning where the attempt itself recovered, or where a later one is healthy
// that has a fourth of its updates, and 16 at least: work was lost, and nothing
// is to be stopped.
Severity WorstOf(const std::vector<std::shared_ptr<const RunView>>& attempts);
// False where the run is lost, or ended without a word on its records: what its
// end says is not in the verdict. Absent while it goes on.
std::optional<bool> JudgedToEnd(const RunView& run);
// Returns the attempts of one run without the incidents for which another
// one stands, of the same attempt or of a later one.
std::vector<std::shared_ptr<const RunView>> EachTroubleOnce(
    const std::vector<std::shared_ptr<const RunView>>& attempts);

// A table of shared pages: a copy costs one pointer a page, a changed run one
// page more.
class RunTable {
 public:
  static constexpr size_t kPage = 64;
  using Page = std::array<std::shared_ptr<const RunView>, kPage>;

  size_t size() const { return size_; }  // slots, empty ones included
  // Returns the view; null of an empty slot.
  std::shared_ptr<const RunView> at(size_t slot) const;
  // Puts `view` (null: empties it) into `slot`, growing as needed. Other copies
  // of this table do not change.
  void Set(size_t slot, std::shared_ptr<const RunView> view);

  // Visits views in slot order.
  template <typename F>
  void ForEach(F&& f) const {
    for (const auto& book : books_) {
      if (!book) continue;
      for (const auto& page : *book) {
        if (!page) continue;
        for (const auto& view : *page) {
          if (view) f(*view);
        }
      }
    }
  }

 private:
  using Book = std::array<std::shared_ptr<const Page>, kPage>;
  std::vector<std::shared_ptr<const Book>> books_;
  size_t size_ = 0;
};

struct Snapshot {
  Time time{};
  uint64_t event_id = 0;  // the newest event that it shows
  RunTable runs;

  // Returns the newest attempt of `run_id`, or the one asked for; null where
  // there is none.
  std::shared_ptr<const RunView> Find(
      std::string_view run_id, std::optional<int32_t> attempt = {}) const;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SNAPSHOT_H_
