// Any bytes as a configuration: told in sentences or accepted, never a crash,
// and what is accepted is accepted again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/config.h"
#include "config/web_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = nanwatch::ParseConfig(text, "fuzz.yaml");
  if (config.ok()) {
    const auto again = nanwatch::ParseConfig(text, "fuzz.yaml");
    CHECK(again.ok() && again->rules == config->rules);
  } else {
    CHECK(!config.error().empty());
  }
  const auto web = nanwatch::ParseWebFile(text, "fuzz.yml");
  CHECK(web.ok() || !web.error().empty());
  return 0;
}
