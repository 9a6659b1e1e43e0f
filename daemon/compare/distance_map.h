// DistanceMap: how far each tensor of two runs lies apart at each step of which
// both have it, against what is usual there: a picture of a comparison.

#ifndef NANWATCH_COMPARE_DISTANCE_MAP_H_
#define NANWATCH_COMPARE_DISTANCE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/compared_run.h"
#include "compare/floors.h"
#include "compare/step_walk.h"

namespace nanwatch {

struct MapCell {
  Standing standing = Standing::kEqual;
  // log10 of the distance over what is usual; absent: one of them is not known.
  std::optional<double> decades;
};
struct MapRow {
  std::string op;
  std::string type;
  Slot slot = Slot::kOutput;
  Phase phase = Phase::kForward;
  // One for each step of the map; absent: not of both runs. Of several calls of
  // an op the one that is farthest apart.
  std::vector<std::optional<MapCell>> cells;
};
struct DistanceMap {
  std::vector<int64_t> steps;
  std::vector<MapRow> rows;  // in the order of causes
  size_t steps_left_out = 0;
  size_t rows_left_out = 0;
};

// What of a map is kept: the first steps and every so many of the others; the
// rows that lie farthest apart.
struct MapSize {
  size_t steps = 128;  // a column each, of 5 pixels or more
  size_t rows = 64;
};

// `floors`: null: none were made.
DistanceMap MapDistances(const ComparedRun& a, const ComparedRun& b,
                         const Floors* floors, const MapSize& size);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_DISTANCE_MAP_H_
