#include "client_lib/src/utf8.h"

#include <cstdint>
#include <cstring>

namespace nanwatch_client {
namespace {

bool IsContinuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the character at the start of `text`; 0: not UTF-8 (overlong forms,
// surrogates and what lies beyond U+10FFFF included).
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  size_t size = 0;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(byte(i))) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

}  // namespace

std::string CleanUtf8(const char* text, size_t limit) {
  if (text == nullptr) return {};
  // A byte more than fits, and the rest of a character: enough to cut well.
  return CleanUtf8(std::string_view(text, strnlen(text, limit + 4)), limit);
}

std::string CleanUtf8(std::string_view text, size_t limit) {
  std::string clean;
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    if (clean.size() + (size == 0 ? 1 : size) > limit) break;
    if (size == 0) {
      clean += '?';
      text.remove_prefix(1);
    } else {
      clean += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return clean;
}

}  // namespace nanwatch_client
