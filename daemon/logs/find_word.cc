#include "logs/find_word.h"

#include <bit>
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
  return std::memcmp(text, word.data(), word.size()) == 0;
}

}  // namespace

size_t FindWord(std::string_view line, std::string_view word, size_t at) {
  const char* const text = line.data();
  const size_t to_last = word.size() - 1;
  if (line.size() <= to_last) return std::string_view::npos;
  const size_t end = line.size() - to_last;  // of places where it may begin
  const Block first = Block{} + static_cast<uint8_t>(word.front());
  const Block last = Block{} + static_cast<uint8_t>(word.back());
  for (; at + sizeof(Block) <= end; at += sizeof(Block)) {
    const auto may = reinterpret_cast<Halves>(
        (Load(text + at) == first) & (Load(text + at + to_last) == last));
    if ((may[0] | may[1]) == 0) continue;
    for (size_t i = at; i < at + sizeof(Block); ++i) {
      if (StandsAt(text + i, word)) return i;
    }
  }
  for (; at < end; ++at) {
    if (text[at] == word.front() && StandsAt(text + at, word)) return at;
  }
  return std::string_view::npos;
}

}  // namespace nanwatch
