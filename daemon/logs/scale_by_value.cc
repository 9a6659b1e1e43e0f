#include "logs/scale_by_value.h"

#include <algorithm>
#include <optional>

#include "logs/names_before.h"
#include "logs/one_of.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Of a first value. Factors and counts of a scaler's settings are below, and
// sizes of images and batches, where the name says no more; ours.
constexpr double kLeastOfLoss = 0x1p5;
constexpr double kLeast = 0x1p12;

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
  const size_t value = text.find_first_not_of(" '\"[");
  const std::string_view name = NameAtEnd(before);
  if (name.empty() || value == text.npos) return 0;
  const bool is = MayBe(name) && Is(name, text.substr(value));
  return is ? static_cast<size_t>(before.end() - name.begin()) : 0;
}

bool PlainScale::Lifts(std::string_view before, std::string_view text) {
  if (lifts_.value_or(false)) return true;
  const std::string_view name = NameAtEnd(before);
  const std::string_view speaks = TrimBlanks(
      before.substr(0, static_cast<size_t>(name.data() - before.data())));
  const bool plain = name == "scale" || name == "Scale" || name == "SCALE";
  if (!plain || (!speaks.empty() && IsLetter(speaks.back()))) return true;
  text.remove_prefix(std::min(text.find_first_not_of(" '\"["), text.size()));
  const std::optional<double> value = Scan(text).Number();
  if (!value) return true;
  // 0 may be a small one, rounded.
  lifts_ = *value > 1 || (*value == 0 && !lifts_);
  return *lifts_;
}

}  // namespace nanwatch
