#include "diagnose/scale_words.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace nanwatch {
namespace {

// A stretch of layers that follow one another in the forward pass.
struct Stretch {
  size_t first = 0;
  size_t last = 0;
};

// "blocks.0 to blocks.3, head".
std::string Named(const LayerRangesView& ranges, size_t most,
                  const std::function<bool(const LayerRangeView&)>& has) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < ranges.layers.size(); ++i) {
    if (!has(ranges.layers[i])) continue;
    if (!stretches.empty() && stretches.back().last + 1 == i) {
      stretches.back().last = i;
    } else {
      stretches.push_back({i, i});
    }
  }
  std::string out;
  size_t left = 0;
  for (size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& s = stretches[i];
    if (i >= most) {
      left += s.last - s.first + 1;
      continue;
    }
    if (i > 0) out += ", ";
    out += ranges.layers[s.first].name;
    if (s.last == s.first) continue;
    out += s.last == s.first + 1 ? ", " : " to ";
    out += ranges.layers[s.last].name;
  }
  if (left > 0) out += fmt::format(" and {} more", left);
  return out;
}

bool IsTooWide(const LayerRangeView& layer) {
  return layer.lowest && layer.highest && *layer.lowest > *layer.highest;
}

size_t CountWhere(const LayerRangesView& ranges,
                  bool (*has)(const LayerRangeView&)) {
  return static_cast<size_t>(
      std::count_if(ranges.layers.begin(), ranges.layers.end(), has));
}

std::string Together(const LayerRangesView& ranges, size_t most) {
  const size_t groups = ranges.groups.size();
  if (groups == 0) return "";
  const auto grouped = [](const LayerRangeView& l) {
    return l.group.has_value();
  };
  if (groups == 1) {
    const ScaleGroupView& one = ranges.groups.front();
    return fmt::format("One loss scale suits {} layers: {}, any from {} to {}.",
                       CountWhere(ranges, grouped), PowerOfTwo(one.scale),
                       PowerOfTwo(one.lowest), PowerOfTwo(one.highest));
  }
  std::string out =
      fmt::format("{} loss scales suit {} layers, and no fewer do: ", groups,
                  CountWhere(ranges, grouped));
  for (size_t g = 0; g < groups; ++g) {
    if (g > 0) out += "; ";
    out += fmt::format("{} for {}", PowerOfTwo(ranges.groups[g].scale),
                       Named(ranges, most, [g](const LayerRangeView& layer) {
                         return layer.group && *layer.group == g;
                       }));
  }
  return out + ".";
}

}  // namespace

std::string PowerOfTwo(double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return fmt::format("{}", scale);
  const double tenths = std::round(10 * std::log2(scale)) / 10;
  return fmt::format("2^{}", tenths == 0 ? 0 : tenths);
}

std::vector<std::string> ScalesInWords(const LayerRangesView& ranges,
                                       size_t most) {
  std::vector<std::string> out;
  if (std::string fit = Together(ranges, most); !fit.empty()) {
    out.push_back(std::move(fit));
  }
  if (CountWhere(ranges, IsTooWide) > 0) {
    out.push_back("No loss scale suits " + Named(ranges, most, IsTooWide) +
                  ": its gradients span more than the format does. It needs "
                  "bf16 or fp32.");
  }
  const auto lost = [](const LayerRangeView& l) { return l.all_lost; };
  double least = 0;
  for (const LayerRangeView& layer : ranges.layers) {
    if (layer.all_lost && layer.lowest) least = std::max(least, *layer.lowest);
  }
  if (least > 0) {
    out.push_back(fmt::format(
        "All gradients of {} are lost at present: at least {} is needed there. "
        "Run again with the scale named, and ask again.",
        Named(ranges, most, lost), PowerOfTwo(least)));
  }
  const auto cut = [](const LayerRangeView& l) { return l.cut; };
  if (CountWhere(ranges, cut) > 0) {
    out.push_back("Of " + Named(ranges, most, cut) +
                  " a part is lost at present: what it needs is estimated from "
                  "what is left. Ask again after a run with the scale named.");
  }
  return out;
}

}  // namespace nanwatch
