// Tokens: secrets by which callers over TCP say who they are. The file holds
// their hashes and is read again when it changes.

#ifndef NANWATCH_RPC_TOKENS_H_
#define NANWATCH_RPC_TOKENS_H_

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nanwatch {

using TokenHash = std::array<unsigned char, 32>;  // SHA-256
struct Token {
  std::string name;  // of whom it is
  TokenHash hash{};
};

// Reads "NAME HASH" a line, the hash in hexadecimal; "#" begins a comment. Two
// tokens of one name are two tokens of one user. An error names the line.
Result<std::vector<Token>> ParseTokens(std::string_view text);

// Any thread.
class Tokens {
 public:
  // Empty: there are none.
  explicit Tokens(std::string path) : path_(std::move(path)) {}

  // Reads the file, if it has changed. On an error what was read before holds.
  Status Load();
  // Whose `token` is; nullopt: nobody's. Takes as long for one as for another.
  std::optional<std::string> NameOf(std::string_view token);
  // True while the file has a token of `name`.
  bool Has(std::string_view name);
  // Rises when the file is another one: who was known may be nobody now. Looks
  // at it once a second.
  uint64_t edition();

 private:
  // What a file was when it was read, whether or not it could be.
  struct Stamp {
    dev_t device = 0;
    ino_t file = 0;
    off_t bytes = -1;
    int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const struct stat& found);
  Status LoadLocked() REQUIRES_LOCK(mutex_);
  // As Load(); an error is logged.
  void RenewLocked() REQUIRES_LOCK(mutex_);

  const std::string path_;
  std::atomic<uint64_t> edition_{0};
  std::atomic<std::chrono::steady_clock::time_point> looked_{};
  Mutex mutex_;
  Stamp read_ GUARDED_BY(mutex_);
  std::vector<Token> tokens_ GUARDED_BY(mutex_);
  LogThrottle unreadable_ GUARDED_BY(mutex_){std::chrono::minutes(1)};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_TOKENS_H_
