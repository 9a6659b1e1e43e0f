#include "compare/setting_diff.h"

#include <algorithm>
#include <map>
#include <optional>

namespace nanwatch {
namespace {

// Beginnings and ends of keys, in small letters. Sources: what msprobe's
// config_check compares (its resource/*.yaml), and Megatron-LM's notes on
// determinism.
constexpr std::string_view kChange[] = {
    "lr",         "learning_rate", "batch",        "seed",      "dtype",
    "precision",  "clip",          "eps",          "beta",      "scaler",
    "world_size", "dropout",       "weight_decay", "optimizer", "warmup",
    "schedule",   "accumulat",     "init_scale",   "growth",    "backoff",
    "hysteresis", "sequence",      "hidden",       "layers",    "vocab"};
constexpr std::string_view kDoNot[] = {
    "watch_level", "last_layer", "path",   "host", "dir",      "log",
    "output",      "trains_on",  "losses", "job",  "benchmark"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool Holds(const std::string& key, std::string_view part) {
  // "lr" is a word of its own: "curl_retries" is none.
  for (size_t at = key.find(part); at != std::string::npos;
       at = key.find(part, at + 1)) {
    if (at == 0 || key[at - 1] == '_' || key[at - 1] == '.' ||
        key[at - 1] == '-') {
      return true;
    }
  }
  return false;
}

template <typename Parts>
bool HoldsAny(const std::string& key, const Parts& parts) {
  return std::any_of(
      std::begin(parts), std::end(parts),
      [&key](std::string_view part) { return Holds(key, part); });
}

template <typename T>
void Say(const char* key, const std::optional<T>& value, Settings* said) {
  if (!value) return;
  std::string text = std::to_string(*value);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  (*said)[key] = text;
}

}  // namespace

Settings AllSettings(const RunDescription& run) {
  Settings said = run.settings;
  const auto say = [&said](const char* key, std::string_view text) {
    if (!text.empty()) said[key] = std::string(text);
  };
  say("framework", run.framework);
  say("precision", run.precision);
  said["world_size"] = std::to_string(run.world_size);
  if (run.overflow_mode != OverflowMode::kUnknown) {
    say("overflow_mode", Name(run.overflow_mode));
  }
  if (run.scaler.kind != ScalingKind::kUnknown) {
    say("scaler", Name(run.scaler.kind));
  }
  say("scaler.name", run.scaler.name);
  Say("scaler.init_scale", run.scaler.init_scale, &said);
  Say("scaler.growth_factor", run.scaler.growth_factor, &said);
  Say("scaler.backoff_factor", run.scaler.backoff_factor, &said);
  Say("scaler.growth_interval", run.scaler.growth_interval, &said);
  Say("clip_norm", run.clip_norm, &said);
  Say("seed", run.seed, &said);
  return said;
}

SettingWeight WeightOf(std::string_view key) {
  const std::string lower = Lower(key);
  if (HoldsAny(lower, kDoNot)) return SettingWeight::kDoesNot;
  return HoldsAny(lower, kChange) ? SettingWeight::kChangesResults
                                  : SettingWeight::kMayChange;
}

std::vector<SettingDiff> DiffSettings(const RunDescription& a,
                                      const RunDescription& b) {
  const Settings of_a = AllSettings(a), of_b = AllSettings(b);
  std::vector<SettingDiff> diffs;
  for (const auto& [key, value] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) {
      diffs.push_back({key, value, "", WeightOf(key)});
    } else if (other->second != value) {
      diffs.push_back({key, value, other->second, WeightOf(key)});
    }
  }
  for (const auto& [key, value] : of_b) {
    if (of_a.count(key) == 0) diffs.push_back({key, "", value, WeightOf(key)});
  }
  std::stable_sort(diffs.begin(), diffs.end(),
                   [](const SettingDiff& x, const SettingDiff& y) {
                     return x.weight < y.weight;
                   });
  return diffs;
}

}  // namespace nanwatch
