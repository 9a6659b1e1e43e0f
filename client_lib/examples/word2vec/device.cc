#include "device.h"

#include <cstring>

namespace word2vec {

void Saturate(Half* data, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, data + i, sizeof(bits));
    const uint16_t magnitude = bits & 0x7fff;
    if (magnitude > kInfHalfBits) {
      bits = 0;
    } else if (magnitude == kInfHalfBits) {
      bits = static_cast<uint16_t>((bits & 0x8000) | kMaxHalfBits);
    }
    std::memcpy(data + i, &bits, sizeof(bits));
  }
}

bool HasNonFinite(const Half* data, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, data + i, sizeof(bits));
    if ((bits & kInfHalfBits) == kInfHalfBits) return true;
  }
  return false;
}

void Device::Run(const Op& op, std::initializer_list<const Tensor*> inputs,
                 Tensor* output, const std::function<void()>& kernel) {
  FloatStatus::BeginOp();
  kernel();
  const bool overflow = float_status_.EndOp();
  if (mode_ == OverflowMode::kSaturation) {
    Saturate(output->data.data(), output->size());
  }
  if (listener_ != nullptr) listener_->OnOp(op, inputs, *output, overflow);
}

}  // namespace word2vec
