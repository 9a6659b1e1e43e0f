// The version, as programs print it and tell it to each other.

#ifndef NANWATCH_APP_VERSION_H_
#define NANWATCH_APP_VERSION_H_

#include <string_view>

namespace nanwatch {

std::string_view DaemonVersion();  // "nanwatchd/0.1.0"

}  // namespace nanwatch

#endif  // NANWATCH_APP_VERSION_H_
