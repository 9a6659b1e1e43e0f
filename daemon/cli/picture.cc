#include "cli/picture.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace nanwatch {
namespace {

constexpr int kEighths = 8;
// Lower blocks of 1 to 8 eighths.
constexpr std::array<std::string_view, kEighths + 1> kBlocks = {
    " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct ColumnSpan {
  bool finite = false;
  bool nonfinite = false;
  double low = 0;  // as printed, not on the axis
  double high = 0;
};

double OnAxis(double value, Axis axis) {
  if (axis == Axis::kLinear) return value;
  // A scale of 0 lies below every other.
  return value > 0 ? std::log2(value) : -150;
}

std::vector<ColumnSpan> Spans(const v1::GetStepsResponse& steps,
                              std::string_view field) {
  std::vector<ColumnSpan> spans;
  for (const v1::StepBucket& bucket : steps.buckets()) {
    ColumnSpan span;
    for (const v1::StepBucket::Value& value : bucket.values()) {
      if (static_cast<int>(value.field()) >= steps.fields_size() ||
          steps.fields(value.field()) != field) {
        continue;
      }
      span.nonfinite = value.nan() + value.pos_inf() + value.neg_inf() > 0;
      if (value.count() == 0) continue;
      span.finite = true;
      span.low = value.min();
      span.high = value.max();
    }
    spans.push_back(span);
  }
  return spans;
}

// Which part of a cell, `level` eighths high in all, row `row` from the bottom
// shows.
std::string_view BarCell(double level_eighths, int row) {
  const int filled =
      std::clamp(static_cast<int>(std::lround(level_eighths)) - row * kEighths,
                 0, kEighths);
  return kBlocks[filled];
}

std::string Label(int row, int rows, double low, double high) {
  if (row == rows - 1) return Number(high);
  return row == 0 ? Number(low) : "";
}

}  // namespace

std::string Picture(const v1::GetStepsResponse& steps, std::string_view field,
                    Axis axis, int rows, const Style& style) {
  const std::vector<ColumnSpan> spans = Spans(steps, field);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const ColumnSpan& span : spans) {
    if (!span.finite) continue;
    low = std::min(low, span.low);
    high = std::max(high, span.high);
  }
  if (low > high) return "";
  const double bottom = OnAxis(low, axis);
  const double range = high > low ? OnAxis(high, axis) - bottom : 1;
  std::string out;
  for (int row = rows - 1; row >= 0; --row) {
    out += style.Dim(fmt::format("{:>{}} │", Label(row, rows, low, high),
                                 kPictureMargin - 2));
    for (const ColumnSpan& span : spans) {
      if (span.nonfinite && row == rows - 1) {
        out += style.Tint(v1::SEVERITY_CRITICAL, "!");
      } else if (!span.finite) {
        out += ' ';
      } else {
        // At least one eighth, so that the least value is seen too.
        const double top = 1 + (OnAxis(span.high, axis) - bottom) / range *
                                   (rows * kEighths - 1);
        out += BarCell(top, row);
      }
    }
    out += '\n';
  }
  return out;
}

std::string OverflowLine(const v1::GetStepsResponse& steps,
                         const Style& style) {
  std::string out =
      style.Dim(fmt::format("{:>{}} │", "overflow", kPictureMargin - 2));
  for (const v1::StepBucket& bucket : steps.buckets()) {
    if (bucket.overflows() == 0) {
      out += ' ';
    } else {
      out += style.Tint(v1::SEVERITY_WARNING,
                        bucket.overflows() == bucket.records() ? "█" : "▪");
    }
  }
  return out + '\n';
}

}  // namespace nanwatch
