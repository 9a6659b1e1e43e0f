// CRC-32C as TFRecord files keep it: rotated and offset, so that checksums of
// data that holds checksums stay good.

#ifndef NANWATCH_LOGS_MASKED_CRC_H_
#define NANWATCH_LOGS_MASKED_CRC_H_

#include <cstdint>
#include <string_view>

namespace nanwatch {

uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MASKED_CRC_H_
