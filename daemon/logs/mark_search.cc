#include "logs/mark_search.h"

#include "base/check.h"

namespace nanwatch {

MarkSearch::MarkSearch(const std::vector<Mark>& marks) {
  size_t classes = 1;
  for (const Mark& mark : marks) {
    CHECK(!mark.text.empty() && mark.group < kGroups);
    for (const char c : mark.text) {
      uint16_t& held = class_[static_cast<uint8_t>(c)];
      if (held == 0) held = static_cast<uint16_t>(classes++);
    }
  }
  while ((1u << shift_) < classes) ++shift_;
  next_.resize(size_t{1} << shift_);
  ends_.resize(1);
  for (const Mark& mark : marks) AddMark(mark);
  LinkStates();
}

// A path of states from the first, numbered as rows for now; 0: none yet.
void MarkSearch::AddMark(const Mark& mark) {
  size_t state = 0;
  for (const char c : mark.text) {
    const size_t edge = (state << shift_) + class_[static_cast<uint8_t>(c)];
    if (next_[edge] == 0) {
      next_[edge] = static_cast<uint32_t>(ends_.size());
      next_.resize(next_.size() + (size_t{1} << shift_));
      ends_.emplace_back();
    }
    state = next_[edge];
  }
  ends_[state].set(mark.group);
}

// Where a path ends, the search goes on at the longest end of it that begins
// another path. States in order of their length, so that those are done.
void MarkSearch::LinkStates() {
  std::vector<uint32_t> shorter(ends_.size());
  std::vector<uint32_t> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t state = order[i];
    ends_[state] |= ends_[shorter[state]];
    for (size_t c = 0; c < (size_t{1} << shift_); ++c) {
      uint32_t& edge = next_[(size_t{state} << shift_) + c];
      const uint32_t otherwise =
          state == 0 ? 0 : next_[(size_t{shorter[state]} << shift_) + c];
      if (edge == 0) {
        edge = otherwise;
      } else {
        shorter[edge] = otherwise;
        order.push_back(edge);
      }
    }
  }
  for (uint32_t& edge : next_) {
    const bool accepts = ends_[edge].any();
    edge = edge << shift_ | (accepts ? kAccept : 0);
  }
}

MarkSearch::Groups MarkSearch::Find(std::string_view line) const {
  Groups found;
  uint32_t row = 0;
  for (const char c : line) {
    const uint32_t edge = next_[row + class_[static_cast<uint8_t>(c)]];
    row = edge & ~kAccept;
    if ((edge & kAccept) != 0) found |= ends_[row >> shift_];
  }
  return found;
}

}  // namespace nanwatch
