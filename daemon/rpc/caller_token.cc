#include "rpc/caller_token.h"

#include <spdlog/fmt/fmt.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "model/limits.h"
#include "rpc/socket_access.h"

namespace nanwatch {
namespace {

constexpr Duration kLife = std::chrono::minutes(5);
constexpr size_t kTokenDigits = 32;
constexpr timeval kPatience{2, 0};

// Hexadecimal; empty without random bytes.
std::string RandomDigits(size_t digits) {
  std::string text;
  while (text.size() < digits) {
    uint64_t word = 0;
    if (getrandom(&word, sizeof word, 0) != sizeof word) return {};
    text += fmt::format("{:016x}", word);
  }
  text.resize(digits);
  return text;
}

struct UnixAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&address);
  }
};

// `abstract`: without a file; such a name begins with a zero byte.
UnixAddress AddressOf(std::string_view name, bool abstract) {
  UnixAddress out;
  out.address.sun_family = AF_UNIX;
  const size_t skip = abstract ? 1 : 0;
  const size_t size =
      std::min(name.size(), sizeof out.address.sun_path - 1 - skip);
  std::memcpy(out.address.sun_path + skip, name.data(), size);
  out.bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
  return out;
}

bool IsToken(std::string_view text) {
  return text.size() == kTokenDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Reads until the other side ends, or more than a token came.
std::string ReadAll(int fd) {
  std::string text;
  char buffer[kTokenDigits + 1];
  while (text.size() <= kTokenDigits) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

std::string CallerTokens::Give(Time now, uid_t uid) {
  std::string token = RandomDigits(kTokenDigits);
  if (token.empty()) return token;
  MutexLock lock(mutex_);
  if (given_.size() >= limits::kCallerTokens) given_.pop_front();
  given_.push_back({token, uid, now});
  return token;
}

std::optional<uid_t> CallerTokens::Who(Time now, std::string_view token) const {
  MutexLock lock(mutex_);
  const auto found =
      std::find_if(given_.begin(), given_.end(),
                   [&](const Given& one) { return one.token == token; });
  if (found == given_.end() || now - found->at > kLife) return std::nullopt;
  return found->uid;
}

bool AsksForToken(int fd) {
  sockaddr_un peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) {
    return false;
  }
  constexpr size_t kName = offsetof(sockaddr_un, sun_path) + 1;
  return bytes >= kName + kAskAddress.size() && peer.sun_path[0] == '\0' &&
         std::string_view(peer.sun_path + 1, kAskAddress.size()) == kAskAddress;
}

std::string AskForToken(const std::string& address) {
  const std::string_view path = SocketPath(address);
  const std::string suffix = RandomDigits(16);
  if (path.empty() || suffix.empty()) return {};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  const UnixAddress ours = AddressOf(std::string(kAskAddress) + suffix, true);
  const UnixAddress theirs = AddressOf(path, false);
  std::string token;
  if (bind(fd, ours.get(), ours.bytes) == 0 &&
      connect(fd, theirs.get(), theirs.bytes) == 0) {
    token = ReadAll(fd);
  }
  close(fd);
  // An older daemon takes us for a gRPC client and says something else.
  return IsToken(token) ? token : std::string();
}

}  // namespace nanwatch
