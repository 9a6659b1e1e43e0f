// Whether an address is of this machine.

#ifndef NANWATCH_WEB_LOOPBACK_H_
#define NANWATCH_WEB_LOOPBACK_H_

#include <string_view>

namespace nanwatch {

inline bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace nanwatch

#endif  // NANWATCH_WEB_LOOPBACK_H_
