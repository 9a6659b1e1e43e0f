#include "metrics/render.h"

#include <charconv>
#include <cmath>

#include "base/check.h"
#include "model/metric_names.h"

namespace nanwatch {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";

void AppendInteger(int64_t value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out->append(digits, end);
}

// Shortest form that reads back the same; integers without an exponent.
void AppendNumber(double value, std::string* out) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::isnan(value)) {
    out->append("NaN");
  } else if (std::isinf(value)) {
    out->append(value > 0 ? "+Inf" : "-Inf");
  } else if (std::fabs(value) < kExact && value == std::trunc(value)) {
    AppendInteger(static_cast<int64_t>(value), out);
  } else {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out->append(digits, end);
  }
}

void AppendEscaped(std::string_view text, bool quotes, std::string* out) {
  const std::string_view special = quotes ? "\\\n\"" : "\\\n";
  if (text.find_first_of(special) == std::string_view::npos) {
    out->append(text);
    return;
  }
  for (const char c : text) {
    if (c == '\n') {
      out->append("\\n");
    } else {
      if (c == '\\' || (quotes && c == '"')) out->push_back('\\');
      out->push_back(c);
    }
  }
}

void AppendLabels(const std::vector<ClientMetric::Label>& labels,
                  std::string* out) {
  if (labels.empty()) return;
  char separator = '{';
  for (const auto& label : labels) {
    out->push_back(separator);
    out->append(label.name).append("=\"");
    AppendEscaped(label.value, true, out);
    out->push_back('"');
    separator = ',';
  }
  out->push_back('}');
}

void AppendExemplar(const Exemplar& exemplar, std::string* out) {
  out->append(" # {step=\"");
  AppendInteger(exemplar.step, out);
  if (exemplar.rank >= 0) {
    out->append("\",rank=\"");
    AppendInteger(exemplar.rank, out);
  }
  out->append("\"} 1");
}

void AppendComment(std::string_view what, std::string_view name,
                   std::string_view text, std::string* out) {
  out->append("# ").append(what).append(" ").append(name).append(" ");
  out->append(text).append("\n");
}

void AppendHeader(MetricsFormat format, const MetricFamily& family,
                  std::string* out) {
  const bool open = format == MetricsFormat::kOpenMetrics100;
  std::string_view name = family.name;
  std::string_view type =
      family.type == MetricType::Counter ? "counter" : "gauge";
  if (open && type == "counter") {
    CHECK(name.ends_with(kTotal));  // model/metric_names.h says so
    name.remove_suffix(kTotal.size());
  } else if (open && name.ends_with(kInfo)) {
    type = "info";
    name.remove_suffix(kInfo.size());
  }
  std::string help;
  AppendEscaped(family.help, open, &help);
  AppendComment("HELP", name, help, out);
  AppendComment("TYPE", name, type, out);
  const std::string_view unit = UnitOf(name);
  if (open && !unit.empty()) AppendComment("UNIT", name, unit, out);
}

}  // namespace

std::string_view ContentType(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics100
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void Render(MetricsFormat format, const MetricSet& set, std::string* out) {
  const bool open = format == MetricsFormat::kOpenMetrics100;
  auto exemplar = set.exemplars.begin();
  for (size_t f = 0; f < set.families.size(); ++f) {
    const MetricFamily& family = set.families[f];
    const bool counter = family.type == MetricType::Counter;
    CHECK(counter || family.type == MetricType::Gauge);
    AppendHeader(format, family, out);
    for (size_t m = 0; m < family.metric.size(); ++m) {
      const ClientMetric& metric = family.metric[m];
      out->append(family.name);
      AppendLabels(metric.label, out);
      out->push_back(' ');
      AppendNumber(counter ? metric.counter.value : metric.gauge.value, out);
      if (exemplar != set.exemplars.end() && exemplar->family == f &&
          exemplar->metric == m) {
        if (open) AppendExemplar(*exemplar, out);
        ++exemplar;
      }
      out->push_back('\n');
    }
  }
  if (open) out->append("# EOF\n");
}

}  // namespace nanwatch
