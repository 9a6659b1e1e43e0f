// Against DNS rebinding: a page of a foreign site may make a browser call
// 127.0.0.1 under a name of its own, but it cannot choose the Host header.

#ifndef NANWATCH_WEB_HOST_GUARD_H_
#define NANWATCH_WEB_HOST_GUARD_H_

#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

// `host`: the header with or without a port. Empty (HTTP/1.0, no browser),
// localhost, plain IP addresses and the names in `allowed` may enter.
bool HostMayEnter(std::string_view host,
                  const std::vector<std::string>& allowed);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_HOST_GUARD_H_
