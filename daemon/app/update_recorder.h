// UpdateRecorder: from the events of a recording, what a simulation of another
// scaler needs: the updates of each run attempt, in order, with the loss scale
// that each used and how far its gradients were from both ends of fp16.

#ifndef NANWATCH_APP_UPDATE_RECORDER_H_
#define NANWATCH_APP_UPDATE_RECORDER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/op_trends.h"
#include "model/event.h"
#include "model/run.h"
#include "scaler/simulation.h"
#include "scaler/tracker.h"

namespace nanwatch {

struct RecordedRun {
  RunKey key;
  RunDescription description;
  // Of the lowest rank, and of the first of its optimizers with a loss scale.
  int32_t rank = 0;
  std::string optimizer;  // empty: the only one, without a name
  size_t optimizers = 1;  // of that rank
  std::vector<RecordedUpdate> updates;
  uint64_t without_scale = 0;  // updates before the first known scale; left out
  uint64_t with_gradients = 0;  // updates whose gradients were recorded
  // Falls of the scale showed whether a record has the one before its update
  // or the one after. Else it was taken for the one before.
  bool order_shown = false;
  // Declared or recognised; null: neither. With its numbers resolved.
  const ScalerSpec* scaler = nullptr;
  bool recognised = false;
  ScalerParameters parameters;
};

class UpdateRecorder {
 public:
  // Events of any runs, in their order. Keeps 40 bytes a step record.
  void Take(const Event& event);
  // In the order of their keys. Call once, last.
  std::vector<RecordedRun> Finish();

 private:
  static constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();
  struct Row {
    int64_t step = 0;
    double scale = 0;  // as recorded; 0: not known yet
    // Bits from the scale to the largest that fits, to the smallest needed.
    float headroom = kNotKnown;
    float lowest = kNotKnown;
    bool overflow = false;
    bool skipped = false;
  };
  struct Lane {
    std::string optimizer;
    ScalerTracker tracker;
    std::vector<Row> rows;
    bool scaled = false;
  };
  struct Rank {
    std::vector<Lane> lanes;  // in the order in which they came
    OpTrends trends;
    int64_t ops_step = std::numeric_limits<int64_t>::min();
  };
  struct Op {
    Dtype dtype = Dtype::kUnknown;
    int32_t order = -1;
  };
  struct Run {
    RunDescription description;
    std::map<int32_t, Rank> ranks;
  };

  void TakeOps(const Event& event, const OpColumns& columns);
  void TakeSteps(const Event& event, const StepColumns& columns);
  void TakeNames(SessionId session, const OpNames& names);
  static Lane& LaneOf(const Run& run, Rank* rank, const std::string& optimizer);
  static RecordedRun Resolved(const RunKey& key, Run* run);
  static void Join(const Lane& other, Lane* lane);
  static void WriteUpdates(const Lane& lane, RecordedRun* out);

  std::map<RunKey, Run> runs_;
  std::map<SessionId, std::vector<Op>> names_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_UPDATE_RECORDER_H_
