#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

#define NANWATCH_POINTER(format) &format,
constexpr const LogFormat* kFormats[] = {
    NANWATCH_LOG_FORMATS(NANWATCH_POINTER)};
#undef NANWATCH_POINTER

}  // namespace

std::span<const LogFormat* const> AllLogFormats() { return kFormats; }

const LogFormat* FindLogFormat(std::string_view name) {
  for (const LogFormat* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace nanwatch
