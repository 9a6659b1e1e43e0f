#include "logs/printed_scale.h"

#include <cmath>
#include <optional>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// The largest power of two, as scales are, that `text` could be: "0.0" is no
// 0.0625, which is printed as 0.1.
double LargestBelow(std::string_view text) {
  const size_t point = text.find('.');
  const size_t places =
      point == std::string_view::npos ? 0 : text.size() - point - 1;
  const double half = 0.5 * std::pow(10.0, -static_cast<double>(places));
  return std::exp2(std::floor(std::log2(half)));
}

}  // namespace

void SetScale(std::string_view text, ScaleText how, LogFact* fact) {
  text = TrimBlanks(text);
  const std::optional<double> value = WholeNumber(text);
  if (!value || *value < 0) return;
  if (*value > 0 || std::isnan(*value) || how == ScaleText::kExact) {
    fact->Set(StepField::kLossScale, *value);
    return;
  }
  fact->Set(StepField::kLossScale,
            how == ScaleText::kInteger ? 0.5 : LargestBelow(text));
  fact->scale_at_most = true;
}

void SetLog2Scale(double log2_scale, LogFact* fact) {
  if (std::isnan(log2_scale)) return;
  fact->Set(StepField::kLossScale, std::exp2(log2_scale));
}

}  // namespace nanwatch
