#include "web/passwords.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "web/bcrypt.h"

namespace nanwatch {
namespace {

// Hashes at once: they leave a core of two. Ours.
constexpr size_t kHashes = 2;
// Who may wait for one, of a host and of all; a thread of HTTP each, of 166.
constexpr int kWaitOfHost = 16;
constexpr int kWait = 64;
// A scraper with a wrong password asks every second: it costs one hash. Ours.
constexpr size_t kWrongRemembered = 128;

std::array<uint8_t, 32> RandomBytes() {
  std::array<uint8_t, 32> bytes{};
  CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return bytes;
}

// Of the user, else of the dearest: who is not there costs no less.
const std::string& HashOfUser(const std::map<std::string, std::string>& users,
                              const std::string& name) {
  const auto found = users.find(name);
  if (found != users.end()) return found->second;
  return std::max_element(users.begin(), users.end(),
                          [](const auto& a, const auto& b) {
                            return BcryptCost(a.second) < BcryptCost(b.second);
                          })
      ->second;
}

bool Same(const std::array<uint8_t, 32>& a, const std::array<uint8_t, 32>& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Passwords::Passwords() : secret_(RandomBytes()) {}

LoginAnswer Passwords::Check(const std::map<std::string, std::string>& users,
                             const LoginTry& login, Deadline end) {
  const std::string& hash = HashOfUser(users, login.user);
  const bool known = users.count(login.user) > 0;
  const Digest digest = DigestOf(login, hash);
  if (const auto answer = Remembered(login, digest)) return *answer;
  if (!TakeTurn(login.host, end)) return LoginAnswer::kBusy;
  // Another connection of the same host may have tried it meanwhile.
  std::optional<LoginAnswer> answer = Remembered(login, digest);
  if (!answer) {
    const bool right = MatchesBcrypt(login.password, hash) && known;
    Remember(login, digest, right);
    answer = right ? LoginAnswer::kRight : LoginAnswer::kWrong;
  }
  EndTurn(login.host);
  return *answer;
}

// The hash is part of it: a password that was changed is asked for anew.
Passwords::Digest Passwords::DigestOf(const LoginTry& login,
                                      std::string_view hash) const {
  // None of a name, a hash and a header's value holds a 0.
  std::string text = login.user;
  text += '\0';
  text += hash;
  text += '\0';
  text += login.password;
  Digest digest{};
  CHECK(HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(),
             digest.data(), nullptr) != nullptr);
  OPENSSL_cleanse(text.data(), text.size());
  return digest;
}

bool Passwords::TakeTurn(const std::string& host, Deadline end)
    NANWATCH_TS(no_thread_safety_analysis) {
  std::unique_lock<std::mutex> lock(mutex_.native());
  if (all_waiting_ >= kWait || waiting_[host] >= kWaitOfHost) return false;
  ++all_waiting_;
  ++waiting_[host];
  const auto mine = [&]() NANWATCH_TS(no_thread_safety_analysis) {
    return hashing_.size() < kHashes && hashing_.count(host) == 0;
  };
  if (turned_.wait_until(lock, end, mine)) {
    hashing_.insert(host);
    return true;
  }
  --all_waiting_;
  if (--waiting_[host] == 0) waiting_.erase(host);
  return false;
}

void Passwords::EndTurn(const std::string& host) {
  {
    MutexLock lock(mutex_);
    hashing_.erase(host);
    --all_waiting_;
    if (--waiting_[host] == 0) waiting_.erase(host);
  }
  turned_.notify_all();
}

std::optional<LoginAnswer> Passwords::Remembered(const LoginTry& login,
                                                 const Digest& digest) {
  MutexLock lock(mutex_);
  const auto right = right_.find(login.user);
  if (right != right_.end() && Same(right->second, digest)) {
    return LoginAnswer::kRight;
  }
  const bool wrong =
      std::any_of(wrong_.begin(), wrong_.end(),
                  [&](const Digest& one) { return Same(one, digest); });
  if (wrong) return LoginAnswer::kWrong;
  return std::nullopt;
}

void Passwords::Remember(const LoginTry& login, const Digest& digest,
                         bool right) {
  MutexLock lock(mutex_);
  if (right) {
    right_[login.user] = digest;
    return;
  }
  if (wrong_.size() >= kWrongRemembered) wrong_.pop_front();
  wrong_.push_back(digest);
}

}  // namespace nanwatch
