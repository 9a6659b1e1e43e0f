// Fnv1a: a 64-bit hash that is the same on every machine and in every version.
// Not for secrets.

#ifndef NANWATCH_BASE_FNV1A_H_
#define NANWATCH_BASE_FNV1A_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nanwatch {

// FNV-1a (Fowler, Noll, Vo) of what is put in, in order.
class Fnv1a {
 public:
  // Puts the bytes of a number, the lowest first.
  constexpr void Put(std::unsigned_integral auto number) {
    for (size_t i = 0; i < sizeof(number); ++i) {
      PutByte(static_cast<uint8_t>(number >> 8 * i));
    }
  }
  constexpr void Put(std::string_view bytes) {
    for (const char c : bytes) PutByte(static_cast<uint8_t>(c));
  }
  // Keeps two texts in a row apart from two others that join to the same.
  constexpr void PutSized(std::string_view text) {
    Put(uint64_t{text.size()});
    Put(text);
  }
  constexpr uint64_t value() const { return hash_; }

 private:
  constexpr void PutByte(uint8_t byte) { hash_ = (hash_ ^ byte) * kPrime; }

  static constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash_ = 0xcbf29ce484222325;
};

constexpr uint64_t Fnv1aOf(std::string_view bytes) {
  Fnv1a hash;
  hash.Put(bytes);
  return hash.value();
}

}  // namespace nanwatch

#endif  // NANWATCH_BASE_FNV1A_H_
