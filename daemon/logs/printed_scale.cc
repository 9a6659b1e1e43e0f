#include "logs/printed_scale.h"

#include <cmath>
#include <optional>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// Half of the last decimal place that `text` shows: "0.0" could be 0.05.
double HalfOfLastPlace(std::string_view text) {
  const size_t point = text.find('.');
  const size_t places =
      point == std::string_view::npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(places));
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
            how == ScaleText::kInteger ? 0.5 : HalfOfLastPlace(text));
  fact->scale_at_most = true;
}

void SetLog2Scale(double log2_scale, LogFact* fact) {
  if (std::isnan(log2_scale)) return;
  fact->Set(StepField::kLossScale, std::exp2(log2_scale));
}

}  // namespace nanwatch
