// Where two replicas differ, out of their digests alone. A digest that is made
// so is three sums over all tensors that replicas have in common, modulo
// kReplicaModulus, lowest bits first in 21 bits each: of h, i * h and i * i *
// h, where h is a number made of the tensor's contents, below the modulus, and
// i the index of its op in the session plus 1. Where one tensor differs by d,
// the sums do by d, i * d and i * i * d, which gives i, and a check of it:
// digests that are made otherwise, or in which several tensors differ, pass it
// once in millions.

#ifndef NANWATCH_DETECT_REPLICA_LOCATOR_H_
#define NANWATCH_DETECT_REPLICA_LOCATOR_H_

#include <cstdint>
#include <optional>

namespace nanwatch {

// A prime below 2^21, as clients have it.
inline constexpr uint64_t kReplicaModulus = 2097143;
inline constexpr int kReplicaSumBits = 21;  // bits of a sum; as clients have it

// The op index of the one tensor in which they differ; nullopt: they are equal,
// several differ, or they are not made so. REQUIRES: `ops` < kReplicaModulus.
inline std::optional<uint32_t> TensorThatDiffers(uint64_t a, uint64_t b,
                                                 uint64_t ops) {
  // As kReplicaSumBits.
  constexpr uint64_t kMask = (uint64_t{1} << kReplicaSumBits) - 1;
  if (((a | b) >> (3 * kReplicaSumBits)) != 0) return std::nullopt;
  uint64_t apart[3];
  for (int i = 0; i < 3; ++i) {
    const uint64_t x = (a >> (i * kReplicaSumBits)) & kMask;
    const uint64_t y = (b >> (i * kReplicaSumBits)) & kMask;
    if (x >= kReplicaModulus || y >= kReplicaModulus) return std::nullopt;
    apart[i] = (x + kReplicaModulus - y) % kReplicaModulus;
  }
  if (apart[0] == 0) return std::nullopt;
  // Fermat: to the power of p - 2 is to divide.
  uint64_t inverse = 1;
  uint64_t power = apart[0];
  for (uint64_t e = kReplicaModulus - 2; e > 0; e >>= 1) {
    if (e & 1) inverse = inverse * power % kReplicaModulus;
    power = power * power % kReplicaModulus;
  }
  const uint64_t place = apart[1] * inverse % kReplicaModulus;
  if (place == 0 || place > ops) return std::nullopt;
  if (place * apart[1] % kReplicaModulus != apart[2]) return std::nullopt;
  return static_cast<uint32_t>(place - 1);
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_REPLICA_LOCATOR_H_
