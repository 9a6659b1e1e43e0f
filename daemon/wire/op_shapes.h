// OpShapes: how many elements each op of a session has, as far as one stream
// was told. A batch of op statuses lists element counts only where they differ
// from the op's shape, so reading one needs this.
//
// A stream owns one a session and it starts empty, also when the session is
// resumed: the handshake then answers `ops_held` 0 and the client says its
// names again (CHANGES.md, "Names on a new stream").

#ifndef NANWATCH_WIRE_OP_SHAPES_H_
#define NANWATCH_WIRE_OP_SHAPES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/limits.h"
#include "model/op.h"

namespace nanwatch {

// How many entries all tables that share it have. Any thread.
class ShapeBudget {
 public:
  explicit ShapeBudget(size_t most = limits::kOpShapes) : most_(most) {}
  // False: there would be more than may be.
  bool Take(size_t entries) {
    if (held_.fetch_add(entries, std::memory_order_relaxed) + entries <=
        most_) {
      return true;
    }
    Give(entries);
    return false;
  }
  void Give(size_t entries) {
    held_.fetch_sub(entries, std::memory_order_relaxed);
  }
  size_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  const size_t most_;
  std::atomic<size_t> held_{0};
};

class OpShapes {
 public:
  // `budget` must outlive this; null: without bounds, for tests.
  explicit OpShapes(ShapeBudget* budget = nullptr) : budget_(budget) {}
  ~OpShapes() { Clear(); }
  OpShapes(const OpShapes&) = delete;
  OpShapes& operator=(const OpShapes&) = delete;

  size_t size() const { return elements_.size(); }
  // 0: unknown, or too many for 64 bits. REQUIRES: op < size().
  uint64_t elements(uint32_t op) const { return elements_[op]; }

  // Takes in `names`; entries that are known are overwritten. False: the budget
  // has no room for them, and nothing was taken.
  // REQUIRES: names.first_index <= size().
  bool Take(const OpNames& names) {
    const size_t end = names.first_index + names.ops.size();
    if (elements_.size() < end) {
      if (budget_ != nullptr && !budget_->Take(end - elements_.size())) {
        return false;
      }
      elements_.resize(end);
    }
    for (size_t i = 0; i < names.ops.size(); ++i) {
      const OpName& op = names.ops[i];
      elements_[names.first_index + i] = Elements(
          op.storage_shape.empty() ? op.logical_shape : op.storage_shape);
    }
    return true;
  }
  void Clear() {
    if (budget_ != nullptr) budget_->Give(elements_.size());
    elements_ = {};
  }

 private:
  ShapeBudget* const budget_;
  std::vector<uint64_t> elements_;  // by op index
};

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_OP_SHAPES_H_
