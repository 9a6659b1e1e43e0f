// NpyReader: a .npy file that comes in pieces, to the digest and the sketch of
// its tensor. It keeps no more than a piece of it.

#ifndef NANWATCH_DUMPS_NPY_READER_H_
#define NANWATCH_DUMPS_NPY_READER_H_

#include <nanwatch_sketch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compare/compared_run.h"
#include "dumps/npy_header.h"

namespace nanwatch {

struct NpyTensor {
  NpyHeader header;
  // Elements, digest, sketch and counts. Integers have a digest alone.
  ComparedTensor tensor;
};

class NpyReader {
 public:
  // `file_bytes`: how long the file is.
  explicit NpyReader(uint64_t file_bytes) : file_bytes_(file_bytes) {}

  // An error is a part of a sentence: "its header is not what numpy writes".
  Status Feed(std::string_view bytes);
  Result<NpyTensor> Finish();

 private:
  Status TakeHeader();
  void TakeElements();
  void AddByColumns(size_t n);

  const uint64_t file_bytes_;
  std::optional<NpyHeader> header_;
  std::string waiting_;  // bytes that were not taken yet
  uint64_t taken_ = 0;   // elements
  nanwatch_sketch sketch_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NPY_READER_H_
