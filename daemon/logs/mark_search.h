// MarkSearch: which formats' marks a line holds, all of them found in one pass
// over the line (Aho and Corasick's automaton): a log is searched for a hundred
// marks at the price of one.

#ifndef NANWATCH_LOGS_MARK_SEARCH_H_
#define NANWATCH_LOGS_MARK_SEARCH_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace nanwatch {

class MarkSearch {
 public:
  static constexpr size_t kGroups = 128;
  using Groups = std::bitset<kGroups>;
  struct Mark {
    std::string_view text;  // not empty
    size_t group = 0;       // < kGroups
  };

  explicit MarkSearch(const std::vector<Mark>& marks);
  // The groups of which `line` holds a mark.
  Groups Find(std::string_view line) const;

 private:
  // A row of `next_` a state, a column a class of bytes, 1 << shift_ columns;
  // the entry is where the next row begins, with kAccept where a mark ends
  // there.
  static constexpr uint32_t kAccept = 1u << 31;

  void AddMark(const Mark& mark);
  void LinkStates();

  std::array<uint16_t, 256> class_{};  // 0: in no mark
  uint32_t shift_ = 0;
  std::vector<uint32_t> next_;
  std::vector<Groups> ends_;  // by state
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MARK_SEARCH_H_
