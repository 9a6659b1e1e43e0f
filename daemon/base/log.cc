#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "base/plain_text.h"

namespace nanwatch {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

bool g_json = false;

spdlog::logger& Logger() {
  static std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>(
        "nanwatchd", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
    return made;
  }();
  return *logger;
}

std::string Escaped(std::string_view text, bool json) {
  std::string out;
  for (const char c : text) {
    if (json && (c == '"' || c == '\\')) out += '\\';
    out += c;
  }
  return PlainText(
      out, [](uint32_t code) { return fmt::format("\\u{:04x}", code); });
}

}  // namespace

void InitLog(LogLevel level, bool json) {
  g_json = json;
  Logger().set_level(ToSpdlog(level));
  if (json) {
    Logger().set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})");
  }
}

void Log(LogLevel level, std::string_view message, std::string_view detail) {
  std::string line;
  if (g_json) line += R"("message":")";
  line += Escaped(message, g_json);
  if (g_json) line += R"(","detail":")";
  if (!g_json && !detail.empty()) line += ' ';
  line += Escaped(detail, g_json);
  if (g_json) line += '"';
  Logger().log(ToSpdlog(level), line);
}

bool LogThrottle::Allow(Time now, int64_t* suppressed) {
  if (last_ != Time{} && now - last_ < interval_) {
    ++suppressed_;
    return false;
  }
  last_ = now;
  *suppressed = suppressed_;
  suppressed_ = 0;
  return true;
}

}  // namespace nanwatch
