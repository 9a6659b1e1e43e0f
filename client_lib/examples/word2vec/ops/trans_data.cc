#include <algorithm>

#include "ops/ops.h"

namespace word2vec {
namespace {

// Where element (row, col) of a matrix of `rows` rows lies in FRACTAL_NZ.
size_t NzIndex(size_t rows, size_t row, size_t col) {
  const size_t row_blocks = (rows + 15) / 16;
  return ((col / 16 * row_blocks + row / 16) * 16 + row % 16) * 16 + col % 16;
}

}  // namespace

void TransDataToNz(const Half* in, size_t rows, size_t cols, Half* out) {
  const size_t storage = (rows + 15) / 16 * 16 * ((cols + 15) / 16 * 16);
  std::fill_n(out, storage, Half{0});
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      out[NzIndex(rows, r, c)] = in[r * cols + c];
    }
  }
}

void TransDataFromNz(const Half* in, size_t rows, size_t cols, Half* out) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      out[r * cols + c] = in[NzIndex(rows, r, c)];
    }
  }
}

}  // namespace word2vec
