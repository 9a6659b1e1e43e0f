// check-config.

#include <cstdio>

#include "app/config_files.h"
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
  Status whole = ApplyFlags({}, &*config);
  if (whole.ok()) whole = TryConfigFiles(*config);
  if (!whole.ok()) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), whole.error().c_str());
    return kExitBadConfig;
  }
  std::printf("%s: fine\n", path.c_str());
  return 0;
}

}  // namespace nanwatch
