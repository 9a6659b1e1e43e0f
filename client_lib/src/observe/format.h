// Format: the bits of a floating-point type, for templates.

#ifndef NANWATCH_OBSERVE_FORMAT_H_
#define NANWATCH_OBSERVE_FORMAT_H_

#include <cstdint>

namespace nanwatch {

// Sign, kExponent bits, kMantissa bits; IEEE but for kHasInf. A constexpr
// description: nothing here is a function that a linker could take from a
// translation unit of another instruction set.
template <typename BitsType, int kExponent, int kMantissaBits, bool kHasInf>
struct Format {
  using Bits = BitsType;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr Bits kSign =
      static_cast<Bits>(static_cast<Bits>(1) << (kExponent + kMantissaBits));
  static constexpr Bits kMagnitude = static_cast<Bits>(kSign - 1);
  static constexpr Bits kMinNormal =
      static_cast<Bits>(static_cast<Bits>(1) << kMantissaBits);
  // The smallest magnitude that is no finite number. e4m3fn has one NaN and no
  // infinity.
  static constexpr Bits kFirstSpecial = static_cast<Bits>(
      kHasInf ? kSign - kMinNormal : static_cast<Bits>(kSign - 1));
  static constexpr bool kInfinities = kHasInf;
  static constexpr int kLowestExponent = 1 - kBias - kMantissaBits;
  static constexpr int kHighestExponent = kHasInf ? kBias : kBias + 1;
};

using Fp64Format = Format<uint64_t, 11, 52, true>;
using Fp32Format = Format<uint32_t, 8, 23, true>;
using Fp16Format = Format<uint16_t, 5, 10, true>;
using Bf16Format = Format<uint16_t, 8, 7, true>;
using Fp8E4M3Format = Format<uint8_t, 4, 3, false>;
using Fp8E5M2Format = Format<uint8_t, 5, 2, true>;

}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_FORMAT_H_
