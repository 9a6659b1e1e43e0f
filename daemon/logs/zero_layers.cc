#include "logs/zero_layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "logs/one_of.h"

namespace nanwatch {
namespace {

constexpr size_t kLayersMax = 4096;
constexpr size_t kNameMax = 128;      // bytes
constexpr int32_t kWithout = 64;      // lines; ours
constexpr uint32_t kHead = 5000;      // lines in which settings stand; ours
constexpr int32_t kHad = 3;           // norms of a layer that learns; ours
constexpr int32_t kRow = 4;           // zeros that are no accident; ours
constexpr int32_t kRowFromStart = 8;  // the same, of one that never had one
constexpr int32_t kTimes = 4;         // longer than any row before; ours
constexpr int32_t kOthers = 2;        // layers with a gradient; ours
constexpr int32_t kMean = 16;         // norms; ours
constexpr int32_t kMost = 1 << 20;
constexpr double kDigits = 50;  // in its size: no rounding; ours
constexpr std::string_view kSpeaks[] = {"grad", "Grad", "gnorm", "|g|", "|g_"};
constexpr std::string_view kFreezes[] = {"reez",     "rozen", "requires_grad",
                                         "rainable", "LoRA",  "lora"};

std::string Told(const std::string& name, int32_t more) {
  return more > 0 ? name + " and " + std::to_string(more) + " more" : name;
}

}  // namespace

bool ZeroLayers::Take(const LayerPair& pair, uint64_t line) {
  if (!std::isfinite(pair.norm) || pair.norm < 0 ||
      pair.name.size() > kNameMax) {
    return false;
  }
  auto found = layers_.find(pair.name);
  if (found == layers_.end()) {
    if (layers_.size() >= kLayersMax) return false;
    found = layers_.emplace(std::string(pair.name), Layer()).first;
  }
  Layer& layer = found->second;
  if (pair.norm == 0) {
    if (layer.zeros++ == 0) layer.since = line;
    return layer.zeros % kRow == 0;
  }
  digit_ = std::min(digit_, pair.last_digit);
  const int32_t zeros = std::exchange(layer.zeros, 0);
  layer.longest = std::max(layer.longest, zeros);
  layer.norms = std::min(layer.norms + 1, kMost);
  layer.size += (pair.norm - layer.size) / std::min(layer.norms, kMean);
  return zeros >= kRow;
}

bool ZeroLayers::Tell() {
  int32_t others = 0;
  double size = 0;
  for (const auto& [name, layer] : layers_) {
    if (layer.zeros > 0 || layer.norms == 0) continue;
    ++others;
    size = std::max(size, layer.size);
  }
  std::string lost;
  std::string never;
  uint64_t since = 0;
  const auto first = [&](bool had, std::string* told) {
    const std::string* found = nullptr;
    int32_t more = -1;
    for (const auto& [name, layer] : layers_) {
      const bool counts =
          had ? layer.norms >= kHad &&
                    layer.zeros >= std::max(kRow, kTimes * layer.longest) &&
                    layer.size >= kDigits * digit_
              : layer.norms == 0 && layer.zeros >= kRowFromStart &&
                    size >= kDigits * digit_;
      if (!counts) continue;
      ++more;
      if (found != nullptr && layer.since >= since) continue;
      found = &name;
      since = layer.since;
    }
    if (found != nullptr) *told = Told(*found, more);
  };
  if (others >= kOthers && !freezes_) first(false, &never);
  if (others > 0 && !freezes_) first(true, &lost);
  const bool other = lost != lost_ || never != never_;
  if (lost != lost_) since_ = since;
  lost_ = lost;
  never_ = never;
  return other;
}

bool ZeroLayers::Read(std::string_view line, uint64_t number) {
  if (layers_.empty() && (without_ >= kWithout || lines_ >= kHead)) {
    return false;
  }
  lines_ = std::min(lines_ + 1, kHead);
  pairs_.clear();
  const bool speaks = HasOneOf(line, kSpeaks);
  const bool names = speaks && ReadLayerPairs(line, &pairs_);
  if (pairs_.empty() && (speaks || column_.open())) column_.Read(line, &pairs_);
  if (names && pairs_.empty() && !column_.open()) ++without_;
  if (pairs_.empty()) {
    freezes_ = freezes_ || HasOneOf(line, kFreezes);
    return false;
  }
  bool tell = false;
  for (const LayerPair& pair : pairs_) tell |= Take(pair, number);
  return tell && Tell();
}

}  // namespace nanwatch
