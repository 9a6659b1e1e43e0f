#include "logs/find_word.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nanwatch {
namespace {

using Block = uint8_t __attribute__((vector_size(16)));
using Halves = uint64_t __attribute__((vector_size(16)));

Block Load(const char* text) {
  Block block;
  std::memcpy(&block, text, sizeof block);
  return block;
}

bool StandsAt(const char* text, std::string_view word) {
  return *text == word.front() &&
         std::memcmp(text, word.data(), word.size()) == 0;
}

}  // namespace

size_t FindWord(std::string_view line, std::string_view word, size_t at) {
  const char* const text = line.data();
  const size_t to_last = word.size() - 1;
  if (line.size() <= to_last) return std::string_view::npos;
  const size_t end = line.size() - to_last;  // of places where it may begin
  if (end < sizeof(Block)) {
    while (at < end && !StandsAt(text + at, word)) ++at;
    return at < end ? at : std::string_view::npos;
  }
  const Block first = Block{} + static_cast<uint8_t>(word.front());
  const Block last = Block{} + static_cast<uint8_t>(word.back());
  while (at < end) {
    // The last block holds places that were looked at before.
    const size_t block = std::min(at, end - sizeof(Block));
    const auto may = reinterpret_cast<Halves>(
        (Load(text + block) == first) & (Load(text + block + to_last) == last));
    const size_t behind = block + sizeof(Block);
    for (; (may[0] | may[1]) != 0 && at < behind; ++at) {
      if (StandsAt(text + at, word)) return at;
    }
    at = behind;
  }
  return std::string_view::npos;
}

}  // namespace nanwatch
