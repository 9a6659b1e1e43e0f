// Hashes of passwords, as htpasswd -B makes them: $2y$COST$, then 22 characters
// of salt and 31 of hash.

#ifndef NANWATCH_WEB_BCRYPT_H_
#define NANWATCH_WEB_BCRYPT_H_

#include <string>
#include <string_view>

namespace nanwatch {

// The costs that are taken: 2^COST rounds. At 14 a hash takes a second.
inline constexpr int kBcryptCostLeast = 4;
inline constexpr int kBcryptCostMost = 14;

// 0: it is no bcrypt hash ($2a$, $2b$, $2y$).
int BcryptCost(std::string_view hash);

// Compares in the same time, whatever is wrong. A password that holds a 0 is
// none, one of more than 72 bytes counts by its first 72.
bool MatchesBcrypt(const std::string& password, const std::string& hash);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_BCRYPT_H_
