// check-config.

#include <cstdio>

#include "cli/commands.h"
#include "config/config.h"

namespace nanwatch {

int CheckConfig(const std::string& path) {
  const Result<DaemonConfig> config = LoadConfig(path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.error().c_str());
    return kExitBadConfig;
  }
  std::printf("%s: fine\n", path.c_str());
  return 0;
}

}  // namespace nanwatch
