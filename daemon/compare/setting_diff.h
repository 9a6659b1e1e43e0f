// What two runs say of themselves, side by side, and which settings change
// results.

#ifndef NANWATCH_COMPARE_SETTING_DIFF_H_
#define NANWATCH_COMPARE_SETTING_DIFF_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"

namespace nanwatch {

// What follows from a setting that differs.
enum class SettingWeight : uint8_t {
  kChangesResults,  // a rate, a batch size, a seed, a format
  kMayChange,       // a version, a device, an algorithm
  kDoesNot,         // a path, a host, how closely is looked
};

struct SettingDiff {
  std::string key;
  std::string a;  // empty: not said
  std::string b;
  SettingWeight weight = SettingWeight::kMayChange;
};

SettingWeight WeightOf(std::string_view key);
using Settings = std::map<std::string, std::string>;
// All that a run says of itself, by key.
Settings AllSettings(const RunDescription& run);
// Those that differ, what changes results first. A setting that one run alone
// says differs, too.
std::vector<SettingDiff> DiffSettings(const RunDescription& a,
                                      const RunDescription& b);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_SETTING_DIFF_H_
