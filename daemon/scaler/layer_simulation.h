// What scales of other kinds would have done for layers whose gradients were
// recorded: how many of them would have lost too much, how many updates would
// have overflowed.
//
// The gradients are taken as they were recorded, as in simulation.h.

#ifndef NANWATCH_SCALER_LAYER_SIMULATION_H_
#define NANWATCH_SCALER_LAYER_SIMULATION_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scaler/scale_groups.h"

namespace nanwatch {

// Of one layer at one update, in log2: the scale that it had, and those that
// suit it.
struct RecordedLayer {
  uint32_t layer = 0;
  float scale = 0;
  float low = 0;   // what it needs; NaN: not known
  float high = 0;  // what it bears, with a bit to spare; NaN: not known
  bool all_lost = false;
};
struct RecordedLayers {
  int64_t step = 0;
  std::vector<RecordedLayer> layers;
};

struct LayerOutcome {
  std::string name;
  uint64_t attempts = 0;  // of layers, with a known need
  uint64_t lost = 0;      // of those, more than 1 in 1000 elements
  uint64_t updates = 0;
  uint64_t overflows = 0;  // updates in which a layer overflows
  double lowest = 0;       // scales that were used, log2
  double highest = 0;
};

// As it was recorded; the least number of fixed scales (and one for all, where
// these are more); each layer's scale after AdaLoss, from its gradients at the
// update before, with and without the authors' bound of 1024; and from the
// largest value of 16 updates, as FP8's delayed scaling. REQUIRES: there are
// some.
std::vector<LayerOutcome> SimulateLayers(
    std::span<const RecordedLayers> updates);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_LAYER_SIMULATION_H_
