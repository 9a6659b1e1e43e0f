#include "cli/layer_scales.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "diagnose/scale_words.h"
#include "model/snapshot.h"

namespace nanwatch {
namespace {

LayerRangesView ViewOf(const v1::GetLayersResponse& from) {
  LayerRangesView view;
  for (const v1::LayerScale& layer : from.scales()) {
    LayerRangeView& one = view.layers.emplace_back();
    one.name = Clean(layer.name());
    if (layer.has_lowest()) one.lowest = layer.lowest();
    if (layer.has_highest()) one.highest = layer.highest();
    if (layer.has_scale()) one.scale = layer.scale();
    if (layer.has_group()) one.group = layer.group();
    one.lost = layer.lost();
    one.cut = layer.cut();
    one.all_lost = layer.all_lost();
    one.outside = layer.outside();
  }
  for (const v1::ScaleGroup& group : from.groups()) {
    view.groups.push_back(
        {group.scale(), group.lowest(), group.highest(), group.bound()});
  }
  return view;
}

std::string Power(const std::optional<double>& scale) {
  return scale ? PowerOfTwo(*scale) : "-";
}

std::string Lost(const LayerRangeView& layer) {
  if (layer.all_lost) return "all";
  const double percent = 100 * layer.lost;
  return fmt::format("{} %",
                     percent < 0.05 ? 0 : std::round(10 * percent) / 10);
}

// In double quotes, as YAML and JSON have it.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string LayerScalesTable(const v1::GetLayersResponse& layers,
                             const Style& style) {
  const LayerRangesView view = ViewOf(layers);
  if (view.layers.empty()) return {};
  std::string out =
      style.Dim(fmt::format("  {:>8} {:>8} {:>8} {:>8}  {}", "needs", "bears",
                            "has", "loses", "layer")) +
      '\n';
  for (const LayerRangeView& layer : view.layers) {
    const bool bounds = layer.all_lost || layer.cut;
    std::string line = fmt::format("  {:>8} {:>8} {:>8} {:>8}  {}",
                                   (bounds ? ">=" : "") + Power(layer.lowest),
                                   Power(layer.highest), Power(layer.scale),
                                   Lost(layer), layer.name);
    if (layer.outside) line = style.Tint(v1::SEVERITY_WARNING, line);
    out += line + '\n';
  }
  constexpr size_t kNamed = 8;  // stretches of layers
  for (const std::string& sentence : ScalesInWords(view, kNamed)) {
    out += '\n' + Wrapped(sentence, 0, style.columns);
  }
  return out;
}

std::string LayerScalesYaml(const v1::GetLayersResponse& layers,
                            std::string_view run) {
  const LayerRangesView view = ViewOf(layers);
  std::string out = fmt::format("# Loss scales that suit the layers of {}.\n",
                                Clean(std::string(run)));
  for (const std::string& sentence : ScalesInWords(view, 8)) {
    out += "# " + sentence + '\n';
  }
  out += "scales:\n";
  for (const LayerRangeView& layer : view.layers) {
    if (!layer.group) {
      // A tensor in FP8 has a range, and shares no loss scale.
      out += "  # " + layer.name +
             (!layer.lowest || !layer.highest  ? ": its range is not known\n"
              : *layer.lowest > *layer.highest ? ": none suits it\n"
                                               : ": a scale of its own\n");
      continue;
    }
    out += fmt::format("  {}: {:.17g}{}\n", Quoted(layer.name),
                       view.groups[*layer.group].scale,
                       layer.all_lost ? "  # all is lost now: or more" : "");
  }
  return out;
}

}  // namespace nanwatch
