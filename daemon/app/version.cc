#include "app/version.h"

#include <spdlog/fmt/fmt.h>

namespace nanwatch {

std::string_view DaemonVersion() { return "nanwatchd/" NANWATCH_VERSION; }

std::string VersionLine(std::string_view program) {
  const std::string version = fmt::format("{}/{}", program, NANWATCH_VERSION);
  return Revision().empty()
             ? version
             : fmt::format("{}, revision {}", version, Revision());
}

}  // namespace nanwatch
