#include "cli/style.h"

#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/plain_text.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

std::string Escape(bool color, std::string_view code, std::string_view text) {
  if (!color) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

// Columns that UTF-8 text takes, counting a code point as one.
size_t Width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
}

}  // namespace

Style Style::OfTerminal(int file) {
  Style style;
  style.color = isatty(file) && std::getenv("NO_COLOR") == nullptr;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.columns = std::clamp<int>(size.ws_col, 20, 120);
    if (size.ws_row > 0) style.rows = size.ws_row;
  }
  return style;
}

std::string Style::Bold(std::string_view text) const {
  return Escape(color, "1", text);
}

std::string Style::Dim(std::string_view text) const {
  return Escape(color, "2", text);
}

std::string Style::Tint(v1::Severity severity, std::string_view text) const {
  switch (severity) {
    case v1::SEVERITY_CRITICAL:
      return Escape(color, "1;31", text);
    case v1::SEVERITY_WARNING:
      return Escape(color, "1;33", text);
    case v1::SEVERITY_INFO:
      return Escape(color, "36", text);
    default:
      return Escape(color, "32", text);
  }
}

v1::Severity OnWire(Severity severity) {
  return static_cast<v1::Severity>(severity);
}

std::string_view Word(v1::Severity severity) {
  switch (severity) {
    case v1::SEVERITY_INFO:
      return "info";
    case v1::SEVERITY_WARNING:
      return "warning";
    case v1::SEVERITY_CRITICAL:
      return "critical";
    default:
      return "healthy";
  }
}

std::string_view Word(v1::LifeState state) {
  switch (state) {
    case v1::LIFE_STATE_LOST:
      return "lost";
    case v1::LIFE_STATE_CLOSED:
      return "closed";
    default:
      return "open";
  }
}

std::string_view Word(v1::AlertState state) {
  switch (state) {
    case v1::ALERT_STATE_FIRING:
      return "firing";
    case v1::ALERT_STATE_RESOLVED:
      return "resolved";
    default:
      return "pending";
  }
}

std::string_view Word(v1::EvidenceGrade grade) {
  switch (grade) {
    case v1::EVIDENCE_GRADE_ESTABLISHED:
      return "established";
    case v1::EVIDENCE_GRADE_SUPPORTED:
      return "supported";
    default:
      return "hypothesis";
  }
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  if (BoundOf(value)) return "0 as printed";
  const double magnitude = std::fabs(value);
  if (value == std::floor(value) && magnitude < 1e9) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.4g}", value);
}

std::string Number(std::optional<double> value) {
  return value ? Number(*value) : "-";
}

std::string Ago(int64_t us, int64_t now_us) {
  if (us == 0) return "-";
  const int64_t seconds = std::max<int64_t>(0, (now_us - us) / 1000000);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(c));
  return out;
}

std::string Clean(std::string_view text) {
  return PlainText(text, [](uint32_t) { return "?"; });
}

std::string Wrapped(std::string_view text, int indent, int columns) {
  const std::string clean = Clean(text);
  const size_t room = std::max(20, columns - indent);
  std::string out;
  std::string line;
  size_t at = 0;
  const auto flush = [&] {
    if (line.empty()) return;
    out.append(indent, ' ');
    out += line;
    out += '\n';
    line.clear();
  };
  while (at < clean.size()) {
    const size_t end = std::min(clean.find(' ', at), clean.size());
    const std::string_view word(clean.data() + at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && Width(line) + 1 + Width(word) > room) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
  return out;
}

std::string Fitted(std::string_view text, size_t width) {
  std::string clean = Clean(text);
  if (Width(clean) <= width) {
    clean.append(width - Width(clean), ' ');
    return clean;
  }
  std::string out;
  size_t taken = 0;
  const size_t keep = width > 3 ? width - 3 : width;
  for (const char c : clean) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && taken++ == keep)
      break;
    out += c;
  }
  if (width > 3) out += "...";
  return out;
}

}  // namespace nanwatch
