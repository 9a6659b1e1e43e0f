// Tensor: a buffer of halves with the shape that the model means and the shape
// that memory holds.

#ifndef NANWATCH_WORD2VEC_TENSOR_H_
#define NANWATCH_WORD2VEC_TENSOR_H_

#include <cstdint>
#include <vector>

#include "half.h"

namespace word2vec {

using Shape = std::vector<int64_t>;

inline int64_t Elements(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

// FRACTAL_NZ of a matrix: 16 x 16 blocks, column of blocks by column of blocks.
inline Shape NzShape(int64_t rows, int64_t cols) {
  return {(cols + 15) / 16, (rows + 15) / 16, 16, 16};
}

struct Tensor {
  Tensor() = default;
  explicit Tensor(Shape shape) : Tensor(shape, shape) {}
  Tensor(Shape logical_shape, Shape storage_shape)
      : logical(std::move(logical_shape)),
        storage(std::move(storage_shape)),
        data(static_cast<size_t>(Elements(storage))) {}

  bool padded() const { return Elements(logical) != Elements(storage); }
  size_t size() const { return data.size(); }  // storage, padding included

  Shape logical;
  Shape storage;
  std::vector<Half> data;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_TENSOR_H_
