// ScaleGroups: how few loss scales suit all layers, and which layers share one.

#ifndef NANWATCH_SCALER_SCALE_GROUPS_H_
#define NANWATCH_SCALER_SCALE_GROUPS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace nanwatch {

// The scales that suit a layer, in log2. `bound`: of what is lost nobody knows
// where it lies; it needs `low` at least.
struct ScaleInterval {
  double low = 0;
  double high = 0;
  bool bound = false;
};

struct ScaleGroup {
  double log2_scale = 0;  // that suits all of them; whole, if one is between
  double low = 0;
  double high = 0;
  bool bound = false;           // of one of them only a bound is known
  std::vector<size_t> members;  // indices, rising
};
struct ScaleGroups {
  std::vector<ScaleGroup> groups;  // by rising scale; as few as can be
  std::vector<size_t> too_wide;    // no scale suits: low is above high
};

// Costs n log n.
ScaleGroups GroupScales(std::span<const ScaleInterval> layers);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_SCALE_GROUPS_H_
