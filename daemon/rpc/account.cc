#include "rpc/account.h"

#include <pwd.h>

#include <vector>

namespace nanwatch {

std::optional<std::string> AccountName(uid_t uid) {
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_name;
}

}  // namespace nanwatch
