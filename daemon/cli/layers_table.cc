#include "cli/layers_table.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
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

// Of one element, or where nobody counted, without a number.
std::string NonfiniteText(const v1::Layer& layer) {
  switch (layer.nonfinite()) {
    case 0:
      return "";
    case 1:
      return "  not finite";
    default:
      return fmt::format("  {} not finite", Grouped(layer.nonfinite()));
  }
}

std::string Alarming(const std::string& text, const Style& style) {
  return text.empty() ? "" : style.Tint(v1::SEVERITY_CRITICAL, text);
}

std::string Numbers(const v1::Layer& layer) {
  return fmt::format("  {:>10} {:>10} {:>7}  {:<8} ", Number(AbsMax(layer)),
                     Number(Rms(layer)), ZerosText(layer),
                     layer.dtype().empty() ? "-" : layer.dtype());
}

std::string Heads(std::string_view rest, const Style& style) {
  return style.Dim(fmt::format("  {:>10} {:>10} {:>7}  {:<8} {}", "abs-max",
                               "rms", "zeros", "dtype", rest)) +
         '\n';
}

// That of fp16 without the loss scale.
double Size(const v1::Layer& layer, double scale) {
  return Rms(layer).value_or(0) / (layer.dtype() == "fp16" ? scale : 1);
}

// Those that say most: what is not finite, then what is all 0, then the
// largest and the smallest by turns.
Layers Telling(const Layers& layers, double scale, size_t most) {
  Layers odd;
  Layers usual;
  for (const v1::Layer* layer : layers) {
    const bool is_odd =
        layer->nonfinite() > 0 || (layer->has_rms() && layer->rms() == 0);
    (is_odd ? odd : usual).push_back(layer);
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

// Of fp16 gradients, that they are shown as they are.
std::string GradientHead(std::string_view head,
                         const v1::GetLayersResponse& layers) {
  const bool scaled =
      std::any_of(layers.layers().begin(), layers.layers().end(),
                  [](const v1::Layer& l) { return l.dtype() == "fp16"; });
  return fmt::format("{}{}", head,
                     scaled ? " (fp16: times the loss scale)" : "");
}

}  // namespace

std::string LayersTable(const v1::GetLayersResponse& layers,
                        const Style& style) {
  if (layers.layers_size() == 0) return {};
  std::string out = Heads(
      fmt::format("{:>9}  {}", "step", GradientHead("gradient of", layers)),
      style);
  for (const v1::Layer& layer : layers.layers()) {
    out +=
        fmt::format("{}{:>9}  {}{}\n", Numbers(layer), layer.step(),
                    Clean(layer.name()), Alarming(NonfiniteText(layer), style));
  }
  return out;
}

std::string LayersBrief(const v1::GetLayersResponse& layers, int64_t since,
                        double scale, int most, const Style& style) {
  constexpr int kNumbers = 42;  // columns before the name
  constexpr int kShortest = 20;
  Layers now;
  for (const v1::Layer& layer : layers.layers()) {
    if (layer.step() >= since) now.push_back(&layer);
  }
  if (most <= 0 || now.empty()) return {};
  const Layers told = Telling(now, scale, static_cast<size_t>(most));
  std::string out = style.Bold("layers");
  if (told.size() < now.size()) {
    out += style.Dim(fmt::format(" ({} of {}: odd, largest, smallest)",
                                 told.size(), now.size()));
  }
  out += '\n' + Heads(GradientHead("gradient", layers), style);
  for (const v1::Layer* layer : told) {
    const std::string bad = NonfiniteText(*layer);
    const auto room = static_cast<size_t>(std::max(
        kShortest, style.columns - kNumbers - static_cast<int>(bad.size())));
    const std::string name = Clean(layer->name());
    out += Numbers(*layer) + (name.size() <= room ? name : Fitted(name, room)) +
           Alarming(bad, style) + '\n';
  }
  return out;
}

}  // namespace nanwatch
