#include "rpc/tokens.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "model/limits.h"
#include "model/network_name.h"

namespace nanwatch {
namespace {

// 10,000 tokens of 100 bytes.
constexpr size_t kFileMost = 1 << 20;
// How soon a name that is gone is noticed on a stream that is open. Ours.
constexpr std::chrono::seconds kLookAtTokens(1);

TokenHash TokenHashOf(std::string_view token) {
  TokenHash hash{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         hash.data());
  return hash;
}

std::optional<TokenHash> ParseHash(std::string_view hex) {
  TokenHash hash{};
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  for (size_t i = 0; i < hash.size(); ++i) {
    const char* const at = hex.data() + 2 * i;
    const auto [stop, error] = std::from_chars(at, at + 2, hash[i], 16);
    if (error != std::errc() || stop != at + 2) return std::nullopt;
  }
  return hash;
}

std::string_view NextWord(std::string_view* line) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = std::min(line->find_first_not_of(kBlank), line->size());
  const size_t end = std::min(line->find_first_of(kBlank, begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

Result<std::string> ReadBounded(int fd, const std::string& path) {
  std::string text(kFileMost + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{fmt::format("cannot read the tokens {}: {}", path,
                               std::strerror(errno))};
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kFileMost) {
    return Error{fmt::format("the file of tokens {} has more than {} bytes",
                             path, kFileMost)};
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<std::vector<Token>> ParseTokens(std::string_view text) {
  std::vector<Token> tokens;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, std::min(text.find('#'), end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view name = NextWord(&line);
    if (name.empty()) continue;
    if (!IsNetworkName(name)) {
      return Error{fmt::format(
          "line {}: a name has 1 to {} letters, digits and any of {}", number,
          kNetworkNameBytes, kNetworkNameMarks)};
    }
    // Not shown: it may be the token itself.
    const std::optional<TokenHash> hash = ParseHash(NextWord(&line));
    if (!hash || !NextWord(&line).empty()) {
      return Error{fmt::format(
          "line {}: after the name comes the SHA-256 of the token, 64 "
          "hexadecimal digits, and nothing else",
          number)};
    }
    if (tokens.size() >= limits::kTokens) {
      return Error{
          fmt::format("line {}: more than {} tokens", number, limits::kTokens)};
    }
    tokens.push_back({std::string(name), *hash});
  }
  return tokens;
}

Tokens::Stamp Tokens::StampOf(const struct stat& found) {
  return {found.st_dev, found.st_ino, found.st_size,
          found.st_ctim.tv_sec * 1'000'000'000ll + found.st_ctim.tv_nsec};
}

Status Tokens::Load() {
  MutexLock lock(mutex_);
  return LoadLocked();
}

Status Tokens::LoadLocked() {
  if (path_.empty()) return OkStatus();
  struct stat found {};
  if (stat(path_.c_str(), &found) == 0 && StampOf(found) == read_) {
    return OkStatus();
  }
  // Not a pipe that nobody writes to.
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return Error{fmt::format("cannot read the tokens {}: {}", path_,
                             std::strerror(errno))};
  }
  // Before the text: what is written meanwhile is another stamp.
  if (fstat(fd, &found) == 0) read_ = StampOf(found);
  const Result<std::string> text = ReadBounded(fd, path_);
  close(fd);
  if (!text) return Error{text.error()};
  Result<std::vector<Token>> tokens = ParseTokens(*text);
  if (!tokens) {
    return Error{
        fmt::format("the file of tokens {}, {}", path_, tokens.error())};
  }
  tokens_ = std::move(*tokens);
  edition_.fetch_add(1, std::memory_order_release);
  return OkStatus();
}

void Tokens::RenewLocked() {
  int64_t suppressed = 0;
  if (const Status read = LoadLocked();
      !read && unreadable_.Allow(SystemClock().Now(), &suppressed)) {
    LogError("tokens were not read again, the old ones hold", read.error());
  }
}

uint64_t Tokens::edition() {
  const auto now = std::chrono::steady_clock::now();
  auto looked = looked_.load(std::memory_order_relaxed);
  if (!path_.empty() && now - looked >= kLookAtTokens &&
      looked_.compare_exchange_strong(looked, now)) {
    MutexLock lock(mutex_);
    RenewLocked();
  }
  return edition_.load(std::memory_order_acquire);
}

bool Tokens::Has(std::string_view name) {
  MutexLock lock(mutex_);
  return std::any_of(tokens_.begin(), tokens_.end(),
                     [&](const Token& one) { return one.name == name; });
}

std::optional<std::string> Tokens::NameOf(std::string_view token) {
  const TokenHash hash = TokenHashOf(token);
  MutexLock lock(mutex_);
  RenewLocked();
  // All are compared, each to its end.
  const Token* whose = nullptr;
  for (const Token& one : tokens_) {
    const bool same =
        CRYPTO_memcmp(one.hash.data(), hash.data(), hash.size()) == 0;
    whose = same ? &one : whose;
  }
  if (whose == nullptr) return std::nullopt;
  return whose->name;
}

}  // namespace nanwatch
