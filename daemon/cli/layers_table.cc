#include "cli/layers_table.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace nanwatch {
namespace {

using Layers = std::vector<const v1::Layer*>;

std::optional<double> AbsMax(const v1::Layer& layer) {
  if (layer.has_abs_max()) return layer.abs_max();
  return std::nullopt;
}

std::optional<double> Rms(const v1::Layer& layer) {
  if (layer.has_rms()) return layer.rms();
  return std::nullopt;
}

// "12 %", "-" where nobody counted.
std::string ZerosText(const v1::Layer& layer) {
  if (!layer.has_zeros() || layer.elements() == 0) return "-";
  const double share = 100 * static_cast<double>(layer.zeros()) /
                       static_cast<double>(layer.elements());
  return fmt::format("{} %", Number(std::round(share * 10) / 10));
}

// `width`: columns for the name; 0: as many as it takes.
std::string Line(const v1::Layer& layer, size_t width, const Style& style) {
  const std::string name = Clean(layer.name());
  const bool fits = width == 0 || name.size() <= width;
  const std::string bad =
      layer.nonfinite() == 0
          ? ""
          : style.Tint(
                v1::SEVERITY_CRITICAL,
                fmt::format("  {} not finite", Grouped(layer.nonfinite())));
  return fmt::format("  {:>10} {:>10} {:>7}  {:<8} {}{}\n",
                     Number(AbsMax(layer)), Number(Rms(layer)),
                     ZerosText(layer),
                     layer.dtype().empty() ? "-" : layer.dtype(),
                     fits ? name : Fitted(name, width), bad);
}

std::string Heads(const Style& style) {
  return style.Dim(fmt::format("  {:>10} {:>10} {:>7}  {:<8} {}", "abs-max",
                               "rms", "zeros", "dtype",
                               "gradient of (fp16: times the loss scale)")) +
         '\n';
}

// That of fp16 without the loss scale.
double Size(const v1::Layer& layer, double scale) {
  return Rms(layer).value_or(0) / (layer.dtype() == "fp16" ? scale : 1);
}

// Those that say most: what is not finite, then what is all 0, then the
// largest and the smallest by turns.
Layers Telling(const v1::GetLayersResponse& layers, double scale, size_t most) {
  Layers odd;
  Layers usual;
  for (const v1::Layer& layer : layers.layers()) {
    const bool is_odd =
        layer.nonfinite() > 0 || (layer.has_rms() && layer.rms() == 0);
    (is_odd ? odd : usual).push_back(&layer);
  }
  const auto bad_first = [](const v1::Layer* a, const v1::Layer* b) {
    return a->nonfinite() > b->nonfinite();
  };
  std::stable_sort(odd.begin(), odd.end(), bad_first);
  std::stable_sort(usual.begin(), usual.end(),
                   [scale](const v1::Layer* a, const v1::Layer* b) {
                     return Size(*a, scale) > Size(*b, scale);
                   });
  odd.resize(std::min(odd.size(), most));
  const size_t room = std::min(most - odd.size(), usual.size());
  const size_t largest = (room + 1) / 2;
  odd.insert(odd.end(), usual.begin(),
             usual.begin() + static_cast<int64_t>(largest));
  odd.insert(odd.end(), usual.end() - static_cast<int64_t>(room - largest),
             usual.end());
  return odd;
}

}  // namespace

std::string LayersTable(const v1::GetLayersResponse& layers,
                        const Style& style) {
  if (layers.layers_size() == 0) return {};
  std::string out = Heads(style);
  for (const v1::Layer& layer : layers.layers()) out += Line(layer, 0, style);
  return out;
}

std::string LayersBrief(const v1::GetLayersResponse& layers, double scale,
                        int most, const Style& style) {
  if (most <= 0 || layers.layers_size() == 0) return {};
  constexpr int kNumbers = 42;  // columns before the name
  constexpr int kShortest = 20;
  const auto width =
      static_cast<size_t>(std::max(kShortest, style.columns - kNumbers));
  const Layers told = Telling(layers, scale, static_cast<size_t>(most));
  std::string out = style.Bold("layers");
  if (told.size() < static_cast<size_t>(layers.layers_size())) {
    out += style.Dim(fmt::format(" ({} of {}, the largest and the smallest)",
                                 told.size(), layers.layers_size()));
  }
  out += '\n' + Heads(style);
  for (const v1::Layer* layer : told) out += Line(*layer, width, style);
  return out;
}

}  // namespace nanwatch
