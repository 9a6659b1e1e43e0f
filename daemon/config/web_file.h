// The file that web.config_file names: exporter-toolkit's web configuration.

#ifndef NANWATCH_CONFIG_WEB_FILE_H_
#define NANWATCH_CONFIG_WEB_FILE_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "web/options.h"

namespace nanwatch {

// Reads the text of `file`; paths in it begin at its folder. An error has every
// problem, a line each: "FILE:LINE:COLUMN: sentence". No secret is in it.
Result<WebProtection> ParseWebFile(std::string_view yaml,
                                   const std::string& file);

// Reads the file first, and then tries the files that it names.
Result<WebProtection> LoadWebFile(const std::string& file);

// Why others could listen in on HTTP, or ask for anything, a sentence; empty:
// it listens on the loopback, or is protected.
std::string WhyInsecure(const std::string& listen,
                        const WebProtection& protection);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_WEB_FILE_H_
