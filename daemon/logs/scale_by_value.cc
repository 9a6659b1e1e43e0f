#include "logs/scale_by_value.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "logs/names_before.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Of a first value. Factors and counts of a scaler's settings are below, and
// sizes of images and batches, where the name says no more; ours.
constexpr double kLeastOfLoss = 0x1p5;
constexpr double kLeast = 0x1p12;

template <size_t n>
bool HasOneOf(std::string_view name, const std::string_view (&words)[n]) {
  return std::any_of(std::begin(words), std::end(words),
                     [name](std::string_view word) {
                       return name.find(word) != std::string_view::npos;
                     });
}

bool IsPowerOfTwo(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

}  // namespace

bool ScaleByValue::MayBe(std::string_view name) {
  static constexpr std::string_view kScale[] = {"scal", "Scal", "SCAL"};
  // Set once: "max_scale", "scale_window".
  static constexpr std::string_view kSettings[] = {
      "init", "min", "max", "target", "window", "interval"};
  // A number at its end is a layer's: "scale/block0".
  return HasOneOf(name, kScale) && !HasOneOf(name, kSettings) &&
         !IsDigit(name.back());
}

bool ScaleByValue::Is(std::string_view name, std::string_view text) {
  static constexpr std::string_view kOfLoss[] = {"amp", "fp16", "loss", "grad",
                                                 "AMP", "FP16", "Loss", "Grad"};
  if (!name_.empty()) return name == name_;
  const std::optional<double> value = Scan(text).Number();
  if (!value || !IsPowerOfTwo(*value)) return false;
  const bool of_loss = HasOneOf(name, kOfLoss);
  if (*value < (of_loss ? kLeastOfLoss : kLeast)) return false;
  name_ = name;
  return true;
}

size_t ScaleByValue::Look(std::string_view before, std::string_view text) {
  if (before.find("cal") == before.npos && before.find("CAL") == before.npos) {
    return 0;
  }
  size_t end = before.size();
  while (end > 0 && (before[end - 1] == ' ' || before[end - 1] == '\'' ||
                     before[end - 1] == '"')) {
    --end;
  }
  size_t begin = end;
  while (begin > 0 && IsNameCharacter(before[begin - 1])) --begin;
  const size_t value = text.find_first_not_of(" '\"[");
  if (begin == end || value == text.npos) return 0;
  const std::string_view name = before.substr(begin, end - begin);
  const bool is = MayBe(name) && Is(name, text.substr(value));
  return is ? before.size() - begin : 0;
}

}  // namespace nanwatch
