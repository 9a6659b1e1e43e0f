// LayerRecorder: from the events of a recording, which loss scales suited each
// layer at each update, and which it had.

#ifndef NANWATCH_APP_LAYER_RECORDER_H_
#define NANWATCH_APP_LAYER_RECORDER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/op_trends.h"
#include "model/event.h"
#include "scaler/layer_simulation.h"
#include "scaler/tracker.h"

namespace nanwatch {

class LayerRecorder {
 public:
  // Events of any runs, in their order. Keeps 20 bytes a layer and update.
  void Take(const Event& event);

  struct Recorded {
    RunKey key;
    std::vector<RecordedLayers> updates;  // of the lowest rank with any
    size_t layers = 0;
  };
  // In the order of their keys, those without any left out. Call once, last.
  std::vector<Recorded> Finish();

 private:
  struct Rank {
    OpTrends trends;
    ScalerTracker tracker;
    int64_t ops_step = std::numeric_limits<int64_t>::min();
    std::vector<RecordedLayers> updates;
  };
  struct Run {
    RunDescription description;
    std::map<int32_t, Rank> ranks;
    std::map<std::string, uint32_t> layers;  // by name
  };
  void TakeOps(const Event& event, const OpColumns& columns);
  void TakeSteps(const Event& event, const StepColumns& columns);

  std::map<RunKey, Run> runs_;
  std::map<SessionId, std::vector<OpName>> names_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_LAYER_RECORDER_H_
