// check-config.

#include <cstdio>

#include "cli/commands.h"
#include "config/config.h"

namespace nanwatch {

int CheckConfig(const std::string& path) {
  Result<DaemonConfig> config = LoadConfig(path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.error().c_str());
    return kExitBadConfig;
  }
  // As nanwatchd without flags.
  if (const Status whole = ApplyFlags({}, &*config); !whole.ok()) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), whole.error().c_str());
    return kExitBadConfig;
  }
  std::printf("%s: fine\n", path.c_str());
  return 0;
}

}  // namespace nanwatch
