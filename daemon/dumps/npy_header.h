// NpyHeader: what stands before the elements in a .npy file of numpy.

#ifndef NANWATCH_DUMPS_NPY_HEADER_H_
#define NANWATCH_DUMPS_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/op.h"

namespace nanwatch {

inline constexpr std::string_view kNpyMark = "\x93NUMPY";
// numpy writes 128 bytes, more for records, which are not read. Beyond:
// refused.
inline constexpr size_t kNpyHeaderBytes = 65536;
// numpy's own limit. Beyond: refused.
inline constexpr size_t kNpyDims = 32;

struct NpyHeader {
  Dtype dtype = Dtype::kUnknown;  // kUnknown: integers or booleans
  size_t item_bytes = 0;          // 1, 2, 4 or 8
  bool swapped = false;           // big-endian
  bool by_columns = false;        // the first index runs fastest
  std::vector<int64_t> shape;
  uint64_t elements = 0;  // 1 of a scalar
};

// Returns how many bytes the header takes, with the mark before it, as far as
// `bytes` say; nullopt: they are too few. An error is a part of a sentence:
// "its mark is missing".
Result<std::optional<size_t>> NpyHeaderEnd(std::string_view bytes);
// Reads a header. REQUIRES: `bytes` are as many as NpyHeaderEnd says.
Result<NpyHeader> ReadNpyHeader(std::string_view bytes);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NPY_HEADER_H_
