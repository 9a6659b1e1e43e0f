// ToldSince: what a log says of a part of the training that no record holds:
// from which step on something is so, and of what.

#ifndef NANWATCH_DETECT_TOLD_SINCE_H_
#define NANWATCH_DETECT_TOLD_SINCE_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/run.h"

namespace nanwatch {

struct ToldSince {
  int64_t step = 0;
  std::string_view name;  // a part of the run's settings
};

// Reads the setting "3350 val_loss". nullopt: there is none, or it says that it
// is so no more.
inline std::optional<ToldSince> ReadToldSince(const RunDescription& run,
                                              const std::string& setting) {
  const auto told = run.settings.find(setting);
  if (told == run.settings.end()) return std::nullopt;
  const std::string_view text = told->second;
  ToldSince read;
  const auto step =
      std::from_chars(text.data(), text.data() + text.size(), read.step);
  if (step.ec != std::errc()) return std::nullopt;
  read.name = text.substr(static_cast<size_t>(step.ptr - text.data()));
  if (read.name.starts_with(' ')) read.name.remove_prefix(1);
  return read;
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_TOLD_SINCE_H_
