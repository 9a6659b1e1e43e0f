#include "detect/bad_elements.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace nanwatch {
namespace {

constexpr std::string_view kPlaceholders[] = {"recv",          "all_gather",
                                              "allgather",     "reduce_scatter",
                                              "reducescatter", "empty"};
constexpr std::string_view kMasks[] = {"mask", "where"};

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool Contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return Lower(a) == b; }) !=
         text.end();
}

// By the op's type; by its name where it has none.
template <size_t N>
bool IsOneOf(const OpName& op, const std::string_view (&words)[N]) {
  const std::string_view text = op.type.empty() ? op.name : op.type;
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view w) { return Contains(text, w); });
}

bool IsMask(const OpContext& c) {
  return IsOneOf(c.op, kMasks) ||
         std::any_of(c.masked_ops.begin(), c.masked_ops.end(),
                     [&](const std::string& pattern) {
                       return fnmatch(pattern.c_str(), c.op.name.c_str(), 0) ==
                              0;
                     });
}

}  // namespace

BadElements CountBad(const OpContext& c) {
  const OpStatus& s = c.status;
  BadElements bad;
  bad.nan = s.get(OpCount::kNan).value_or(0);
  bad.inf = s.get(OpCount::kPosInf).value_or(0);
  const uint64_t negative = s.get(OpCount::kNegInf).value_or(0);
  if (c.run.overflow_mode == OverflowMode::kSaturation) {
    bad.saturated = s.get(OpCount::kSaturated).value_or(0);
  }
  if (bad.nan + bad.inf + negative + bad.saturated == 0) return bad;
  if (s.slot == Slot::kInput && IsOneOf(c.op, kPlaceholders)) return {};
  if (negative > 0 && !IsMask(c)) bad.inf += negative;
  return bad;
}

bool IsAbsorbedMask(const OpContext& c) {
  const OpStatus& s = c.status;
  const bool activation = s.slot == Slot::kInput || s.slot == Slot::kOutput;
  if (!activation || c.record == nullptr || c.scaler.overflowed() ||
      c.scaler.presumed_fate() != Fate::kApplied ||
      c.run.overflow_mode == OverflowMode::kSaturation ||
      s.device_flag.value_or(false)) {
    return false;
  }
  const uint64_t negative = s.get(OpCount::kNegInf).value_or(0);
  if (negative == 0 || CountBad(c).all() != negative) return false;
  const auto sound = [&c](StepField field) {
    return c.record->has(field) && std::isfinite((*c.record)[field]);
  };
  return sound(StepField::kLoss) && sound(StepField::kGradNorm);
}

bool LookedAt(const OpStatus& status) {
  return status.get(OpCount::kNan) || status.get(OpCount::kPosInf) ||
         status.get(OpCount::kSaturated) || status.get(OpStat::kAbsMax);
}

}  // namespace nanwatch
