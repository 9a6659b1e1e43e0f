#include "compare/distance_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace nanwatch {
namespace {

// By which a row is found; a type tells an op of the backward pass.
using RowName = std::tuple<Phase, std::string, std::string, Slot>;

MapCell CellOf(const TensorPair& pair, const WalkedPair& walked) {
  MapCell cell{walked.standing, std::nullopt};
  if (pair.distance && *pair.distance > 0 && walked.floor > 0) {
    cell.decades = std::log10(*pair.distance / walked.floor);
  }
  return cell;
}

// How much a cell says of a divergence: what is beyond above all.
double Weight(const MapCell& cell) {
  constexpr double kBeyond = 1000;  // decades; more than any distance is
  const double base = cell.standing == Standing::kBeyond ? kBeyond : 0;
  if (cell.standing == Standing::kEqual) {
    return -std::numeric_limits<double>::infinity();
  }
  return base + cell.decades.value_or(0);
}

double Weight(const MapRow& row) {
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& cell : row.cells) {
    if (cell) most = std::max(most, Weight(*cell));
  }
  return most;
}

// At most `most` indices below `count`, from the first to the last.
std::vector<size_t> Spread(size_t count, size_t most) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) {
    if (count <= most || i * most / count != (i + 1) * most / count) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

class Mapper {
 public:
  Mapper(const ComparedRun& a, const ComparedRun& b, const Floors* floors)
      : paired_(a, b, floors) {}

  DistanceMap Make(const MapSize& size) {
    const size_t steps = paired_.steps().size();
    const std::vector<size_t> shown = Spread(steps, size.steps);
    map_.steps_left_out = steps - shown.size();
    size_t next = 0;
    for (size_t i = 0; i < steps; ++i) {
      const bool kept = next < shown.size() && shown[next] == i;
      next += kept;
      TakeStep(paired_.At(i), kept);
    }
    for (MapRow& row : map_.rows) row.cells.resize(map_.steps.size());
    // As the ops were executed, where they first came.
    std::stable_sort(
        map_.rows.begin(), map_.rows.end(),
        [](const MapRow& x, const MapRow& y) { return x.phase < y.phase; });
    Shorten(size.rows);
    return std::move(map_);
  }

 private:
  // Of a step that is not `kept`, what it says of the ones after it.
  void TakeStep(const StepAndNear& near, bool kept) {
    const PairedStep& paired = near.step();
    const std::vector<WalkedPair> walked =
        WalkThrough(near, {fresh_, same_before_});
    const bool same = std::all_of(
        walked.begin(), walked.end(),
        [](const WalkedPair& w) { return w.standing == Standing::kEqual; });
    same_before_ = (fresh_ || same_before_) && same;
    fresh_ = false;
    if (!kept) return;
    map_.steps.push_back(paired.step);
    for (size_t i = 0; i < paired.pairs.size(); ++i) {
      Put(paired.pairs[i], CellOf(paired.pairs[i], walked[i]));
    }
  }

  void Put(const TensorPair& pair, const MapCell& cell) {
    const auto& [op, type, slot, place] = pair.name;
    const auto [at, is_new] =
        rows_.try_emplace({pair.phase, op, type, slot}, map_.rows.size());
    if (is_new) map_.rows.push_back({op, type, slot, pair.phase, {}});
    MapRow& row = map_.rows[at->second];
    row.cells.resize(map_.steps.size());
    std::optional<MapCell>& there = row.cells.back();
    if (!there || Weight(*there) < Weight(cell)) there = cell;
  }

  void Shorten(size_t most) {
    if (map_.rows.size() <= most) return;
    std::vector<size_t> order(map_.rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](size_t x, size_t y) {
      return Weight(map_.rows[x]) > Weight(map_.rows[y]);
    });
    order.resize(most);
    std::sort(order.begin(), order.end());
    map_.rows_left_out = map_.rows.size() - most;
    std::vector<MapRow> kept;
    for (const size_t i : order) kept.push_back(std::move(map_.rows[i]));
    map_.rows = std::move(kept);
  }

  PairedSteps paired_;
  bool fresh_ = true;
  bool same_before_ = false;
  std::map<RowName, size_t> rows_;  // indices into map_.rows, before the sort
  DistanceMap map_;
};

}  // namespace

DistanceMap MapDistances(const ComparedRun& a, const ComparedRun& b,
                         const Floors* floors, const MapSize& size) {
  return Mapper(a, b, floors).Make(size);
}

}  // namespace nanwatch
