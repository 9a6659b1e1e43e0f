#include "logs/printed_scale.h"

#include <cmath>
#include <optional>

#include "logs/scan.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

// Half of the last decimal place that `text` shows.
double HalfOfLastPlace(std::string_view text) {
  const size_t point = text.find('.');
  const size_t places =
      point == std::string_view::npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(places));
}

// The largest power of two, as scales are, that is printed as zero: "0.0" is no
// 0.0625, which would be 0.1.
double LargestPrintedAsZero(std::string_view text) {
  return std::exp2(std::floor(std::log2(HalfOfLastPlace(text))));
}

// "0.2" is 0.25 with one decimal, and "0.1" is 0.125 or less.
double BelowOne(double value, std::string_view text) {
  const double power = std::exp2(std::round(std::log2(value)));
  constexpr double kSlack = 1.02;
  const bool rounded =
      std::fabs(power - value) <= kSlack * HalfOfLastPlace(text);
  return rounded ? power : value;
}

// Integers above are printed by float32 in 8 digits: 2^28 as 268435460.
constexpr double kExactFloat = 0x1p24;
double OfEightDigits(double value) {
  const double power = std::exp2(std::round(std::log2(value)));
  return std::fabs(value / power - 1) < 1e-6 ? power : value;
}

}  // namespace

void SetScale(std::string_view text, ScaleText how, LogFact* fact) {
  text = TrimBlanks(text);
  const std::optional<double> value = WholeNumber(text);
  if (value) SetScale(text, *value, how, fact);
}

void SetScale(std::string_view text, double value, ScaleText how,
              LogFact* fact) {
  if (value < 0) return;
  if (value > 0 && value < 1 && how == ScaleText::kRounded) {
    fact->Set(StepField::kLossScale, BelowOne(value, text));
    return;
  }
  if (value > 0 || std::isnan(value) || how == ScaleText::kExact) {
    const bool rounded = how == ScaleText::kRounded && value > kExactFloat;
    fact->Set(StepField::kLossScale, rounded ? OfEightDigits(value) : value);
    return;
  }
  fact->Set(
      StepField::kLossScale,
      AtMost(how == ScaleText::kInteger ? 0.5 : LargestPrintedAsZero(text)));
  fact->scale_at_most = true;
}

void SetLog2Scale(double log2_scale, LogFact* fact) {
  if (std::isnan(log2_scale)) return;
  fact->Set(StepField::kLossScale, std::exp2(log2_scale));
}

bool IsPowerOfTwo(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

}  // namespace nanwatch
