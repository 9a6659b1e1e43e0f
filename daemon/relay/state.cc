#include "relay/state.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/file.h"
#include "wire/session_name.h"

namespace nanwatch {
namespace {

constexpr size_t kKeyBytes = 32;
// As many sessions as fit on a stream, 4 KB each.
constexpr size_t kFileMost = 64 << 20;

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(fd) == 0;
}

void SyncFolder(const std::string& path) {
  const int fd =
      open(ParentDirectory(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

v1::RelayState ReadRelayState(const std::string& path) {
  v1::RelayState state;
  if (state.ParseFromString(ReadHead(path, kFileMost)) &&
      state.key().size() == kKeyBytes) {
    return state;
  }
  state.Clear();
  std::string key(kKeyBytes, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(key.data()),
                   static_cast<int>(key.size())) == 1);
  state.set_key(key);
  return state;
}

Status WriteRelayState(const std::string& path, const v1::RelayState& state) {
  const std::string fresh = path + ".new";
  const int fd =
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && WriteAll(fd, state.SerializeAsString());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!written) return Error{fresh + ": " + std::strerror(error)};
  if (Status renamed = RenameFile(fresh, path); !renamed) return renamed;
  SyncFolder(path);
  return OkStatus();
}

SessionId UpstreamId(const std::string& key, SessionId name) {
  std::string text = key;
  for (size_t i = 0; i < sizeof name; ++i) {
    text.push_back(static_cast<char>(name >> 8 * i));
  }
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         hash);
  SessionId id = 0;
  for (size_t i = 0; i < sizeof id; ++i) {
    id |= static_cast<SessionId>(hash[i]) << 8 * i;
  }
  return id == 0 ? 1 : id;
}

}  // namespace nanwatch
