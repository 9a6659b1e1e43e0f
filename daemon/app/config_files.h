// The files that a configuration names, beside that of HTTP, which is a part of
// it (config/web_file.h).

#ifndef NANWATCH_APP_CONFIG_FILES_H_
#define NANWATCH_APP_CONFIG_FILES_H_

#include "base/result.h"
#include "config/config.h"

namespace nanwatch {

// Reads the certificate and the tokens as the daemon does when it starts. An
// error names the key and the file.
Status TryConfigFiles(const DaemonConfig& config);

}  // namespace nanwatch

#endif  // NANWATCH_APP_CONFIG_FILES_H_
