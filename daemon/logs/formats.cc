#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

// A line a format. Progress first, the more particular before the more general:
// of two that read the same lines, the one above is believed.
constexpr const LogFormat* kFormats[] = {
    &kEventTable,
    &kMegatron,
};

}  // namespace

std::span<const LogFormat* const> AllLogFormats() { return kFormats; }

const LogFormat* FindLogFormat(std::string_view name) {
  for (const LogFormat* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace nanwatch
