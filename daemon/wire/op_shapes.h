// OpShapes: how many elements each op of a session has, as far as one stream
// was told. A batch of op statuses lists element counts only where they differ
// from the op's shape, so reading one needs this.
//
// A stream owns one a session and it starts empty, also when the session is
// resumed: the handshake then answers `ops_held` 0 and the client says its
// names again (CHANGES.md, "Names on a new stream").

#ifndef NANWATCH_WIRE_OP_SHAPES_H_
#define NANWATCH_WIRE_OP_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/op.h"

namespace nanwatch {

class OpShapes {
 public:
  size_t size() const { return elements_.size(); }
  // 0: unknown, or too many for 64 bits. REQUIRES: op < size().
  uint64_t elements(uint32_t op) const { return elements_[op]; }

  // Takes in `names`; entries that are known are overwritten.
  // REQUIRES: names.first_index <= size().
  void Take(const OpNames& names) {
    const size_t end = names.first_index + names.ops.size();
    if (elements_.size() < end) elements_.resize(end);
    for (size_t i = 0; i < names.ops.size(); ++i) {
      const OpName& op = names.ops[i];
      elements_[names.first_index + i] = Elements(
          op.storage_shape.empty() ? op.logical_shape : op.storage_shape);
    }
  }

 private:
  std::vector<uint64_t> elements_;  // by op index
};

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_OP_SHAPES_H_
