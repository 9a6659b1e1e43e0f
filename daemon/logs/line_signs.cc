#include "logs/line_signs.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nanwatch {
namespace {

using Block = uint8_t __attribute__((vector_size(16)));
using Halves = uint64_t __attribute__((vector_size(16)));

// Where a sign is in any of the blocks that were looked at: a byte that is not
// 0.
class Sign {
 public:
  explicit Sign(char sign) : sign_(Block{} + static_cast<uint8_t>(sign)) {}
  void Look(const Block& block) {
    found_ |= reinterpret_cast<Block>(block == sign_);
  }
  bool found() const {
    const auto halves = reinterpret_cast<Halves>(found_);
    return (halves[0] | halves[1]) != 0;
  }

 private:
  Block sign_;
  Block found_{};
};

}  // namespace

LineSigns SignsOf(std::string_view line) {
  Sign escape('\x1b');
  Sign hash('#');
  Sign parenthesis('(');
  Sign slash('/');
  Sign quote('\'');
  Block bits{};
  const auto look = [&](const char* text, size_t size) {
    Block block{};
    std::memcpy(&block, text, size);
    for (Sign* const sign : {&escape, &hash, &parenthesis, &slash, &quote}) {
      sign->Look(block);
    }
    bits |= block;
  };
  constexpr size_t kBlock = sizeof(Block);
  if (line.size() < kBlock) {
    look(line.data(), line.size());
  } else {
    const char* const last = line.data() + line.size() - kBlock;
    for (const char* at = line.data(); at < last; at += kBlock) {
      look(at, kBlock);
    }
    look(last, kBlock);  // some of it again
  }
  const auto halves = reinterpret_cast<Halves>(bits);
  constexpr uint64_t kOther = 0x8080808080808080;
  return {.escape = escape.found(),
          .hash = hash.found(),
          .parenthesis = parenthesis.found(),
          .slash = slash.found(),
          .quote = quote.found(),
          .other = ((halves[0] | halves[1]) & kOther) != 0};
}

}  // namespace nanwatch
