// Passwords: whether a password is a user's, by its bcrypt hash.
//
// A hash costs 50 to 300 ms by intent. So a right password is hashed once and
// remembered, wrong ones do not push it out; few hashes are made at once, one
// for each host; and a user who does not exist costs as much as one who does.

#ifndef NANWATCH_WEB_PASSWORDS_H_
#define NANWATCH_WEB_PASSWORDS_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "web/deadline.h"

namespace nanwatch {

// What a user tries, from where.
struct LoginTry {
  std::string user;
  std::string password;
  std::string host;  // of the client
};

enum class LoginAnswer { kRight, kWrong, kBusy };

class Passwords {
 public:
  // What is remembered is good for this process alone.
  Passwords();

  // Compares with `users`, name -> bcrypt, not empty. kBusy: so many others
  // wait, or the deadline is over. Any thread.
  LoginAnswer Check(const std::map<std::string, std::string>& users,
                    const LoginTry& login, Deadline end);

 private:
  using Digest = std::array<uint8_t, 32>;

  Digest DigestOf(const LoginTry& login, std::string_view hash) const;
  bool TakeTurn(const std::string& host, Deadline end);
  void EndTurn(const std::string& host);
  std::optional<LoginAnswer> Remembered(const LoginTry& login,
                                        const Digest& digest);
  void Remember(const LoginTry& login, const Digest& digest, bool right);

  const std::array<uint8_t, 32> secret_;
  Mutex mutex_;
  std::condition_variable turned_;
  // Who waits for a hash or is at one, by host.
  std::map<std::string, int> waiting_ GUARDED_BY(mutex_);
  int all_waiting_ GUARDED_BY(mutex_) = 0;
  std::set<std::string> hashing_ GUARDED_BY(mutex_);  // hosts
  // The last right password of each user, and the newest wrong ones.
  std::map<std::string, Digest> right_ GUARDED_BY(mutex_);
  std::deque<Digest> wrong_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_PASSWORDS_H_
