#include "relay/state.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/check.h"
#include "base/file.h"
#include "wire/session_name.h"

namespace nanwatch {
namespace {

constexpr size_t kKeyBytes = 32;
// As many sessions as fit on a stream, 4 KB each.
constexpr size_t kFileMost = 64 << 20;

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
  return ReplaceFile(path, state.SerializeAsString());
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
