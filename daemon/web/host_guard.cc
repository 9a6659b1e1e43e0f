#include "web/host_guard.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>

namespace nanwatch {
namespace {

bool SameName(const std::string& a, const std::string& b) {
  return strcasecmp(a.c_str(), b.c_str()) == 0;
}

std::string WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    return std::string(host.substr(1, host.find(']') - 1));
  }
  return std::string(host.substr(0, host.find(':')));
}

bool IsAddress(const std::string& name) {
  in6_addr address;
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

}  // namespace

bool HostMayEnter(std::string_view host,
                  const std::vector<std::string>& allowed) {
  if (host.empty()) return true;
  const std::string name = WithoutPort(host);
  return SameName(name, "localhost") || IsAddress(name) ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const std::string& a) { return SameName(a, name); });
}

}  // namespace nanwatch
