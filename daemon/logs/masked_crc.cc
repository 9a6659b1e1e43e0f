#include "logs/masked_crc.h"

#include <array>

namespace nanwatch {
namespace {

constexpr uint32_t kCastagnoli = 0x82f63b78;  // reversed
constexpr uint32_t kMaskDelta = 0xa282ead8;   // TFRecord's

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t MaskedCrc32c(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + kMaskDelta;
}

}  // namespace nanwatch
