#include <cstring>

#include "ops/ops.h"

namespace word2vec {

void Gather(const Half* table, size_t dim, const int32_t* rows, size_t n,
            Half* out) {
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(out + i * dim, table + static_cast<size_t>(rows[i]) * dim,
                dim * sizeof(Half));
  }
}

}  // namespace word2vec
