#include "wire/session_name.h"

#include <openssl/sha.h>

namespace nanwatch {

SessionId SessionName(SessionId secret) {
  if (secret == 0) return 0;
  unsigned char bytes[sizeof secret];
  for (size_t i = 0; i < sizeof secret; ++i) {
    bytes[i] = static_cast<unsigned char>(secret >> 8 * i);
  }
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(bytes, sizeof bytes, hash);
  SessionId name = 0;
  for (size_t i = 0; i < sizeof name; ++i) {
    name |= static_cast<SessionId>(hash[i]) << 8 * i;
  }
  return name == 0 ? 1 : name;
}

}  // namespace nanwatch
