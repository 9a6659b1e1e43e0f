#include "scaler/scale_groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanwatch {
namespace {

// The power of two nearest to the middle, of what is 1 and more if some is;
// where none is between, the middle.
double Between(double low, double high) {
  if (high >= 0) low = std::max(low, 0.0);
  const double middle = low + (high - low) / 2;
  const double whole = std::floor(middle);
  if (whole >= low) return whole;
  return whole + 1 <= high ? whole + 1 : middle;
}

// Of what is lost only a bound is known: it goes to the highest scale that it
// may have, of those that others need anyway. True: there is one.
bool Join(const ScaleInterval& layer, size_t index,
          std::vector<ScaleGroup>* groups) {
  for (auto group = groups->rbegin(); group != groups->rend(); ++group) {
    const double low = std::max(group->low, layer.low);
    const double high = std::min(group->high, layer.high);
    if (low > high) continue;
    group->low = low;
    group->high = high;
    group->bound = true;
    group->members.push_back(index);
    return true;
  }
  return false;
}

// Each group ends at the lowest upper bound that is left: no choice of fewer
// scales can do without one there or below.
void Stab(std::span<const ScaleInterval> layers, std::vector<size_t> order,
          std::vector<ScaleGroup>* groups) {
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return layers[a].high < layers[b].high;
  });
  const size_t before = groups->size();
  for (const size_t i : order) {
    const ScaleInterval& layer = layers[i];
    if (groups->size() == before || layer.low > groups->back().high) {
      groups->emplace_back();
      groups->back().low = layer.low;
      groups->back().high = layer.high;
    }
    ScaleGroup& group = groups->back();
    group.low = std::max(group.low, layer.low);
    group.bound |= layer.bound;
    group.members.push_back(i);
  }
}

}  // namespace

ScaleGroups GroupScales(std::span<const ScaleInterval> layers) {
  ScaleGroups result;
  std::vector<size_t> seen;
  std::vector<size_t> lost;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!(layers[i].low <= layers[i].high)) {
      result.too_wide.push_back(i);
    } else {
      (layers[i].bound ? lost : seen).push_back(i);
    }
  }
  Stab(layers, std::move(seen), &result.groups);
  std::erase_if(lost,
                [&](size_t i) { return Join(layers[i], i, &result.groups); });
  Stab(layers, std::move(lost), &result.groups);
  for (ScaleGroup& group : result.groups) {
    std::sort(group.members.begin(), group.members.end());
    group.log2_scale = Between(group.low, group.high);
  }
  std::stable_sort(result.groups.begin(), result.groups.end(),
                   [](const ScaleGroup& a, const ScaleGroup& b) {
                     return a.log2_scale < b.log2_scale;
                   });
  return result;
}

}  // namespace nanwatch
