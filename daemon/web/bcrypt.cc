#include "web/bcrypt.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace nanwatch {
namespace {

constexpr size_t kHashBytes = 60;
constexpr size_t kCostAt = 4;  // behind "$2y$"

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetterOfHash(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '.' || c == '/';
}

}  // namespace

int BcryptCost(std::string_view hash) {
  if (hash.size() != kHashBytes) return 0;
  const std::string_view kind = hash.substr(0, kCostAt);
  if (kind != "$2a$" && kind != "$2b$" && kind != "$2y$") return 0;
  const char tens = hash[kCostAt];
  const char ones = hash[kCostAt + 1];
  const std::string_view rest = hash.substr(kCostAt + 3);
  if (!IsDigit(tens) || !IsDigit(ones) || hash[kCostAt + 2] != '$' ||
      !std::all_of(rest.begin(), rest.end(), IsLetterOfHash)) {
    return 0;
  }
  return 10 * (tens - '0') + (ones - '0');
}

bool MatchesBcrypt(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  const char* made = crypt_r(password.c_str(), hash.c_str(), data.get());
  const bool same = made != nullptr && std::strlen(made) == hash.size() &&
                    CRYPTO_memcmp(made, hash.data(), hash.size()) == 0 &&
                    password.find('\0') == std::string::npos;
  OPENSSL_cleanse(data.get(), sizeof *data);
  return same;
}

}  // namespace nanwatch
