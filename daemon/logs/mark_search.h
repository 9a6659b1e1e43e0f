// MarkSearch: which formats' marks a line holds. Each mark is stood for by the
// two bytes in a row of it that logs hold least; a line is looked through for a
// hundred such pairs in one pass, without a branch a byte, and a mark is
// compared only where its pair is.

#ifndef NANWATCH_LOGS_MARK_SEARCH_H_
#define NANWATCH_LOGS_MARK_SEARCH_H_

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
    std::string_view text;  // not empty; outlives the search
    size_t group = 0;       // < kGroups
  };

  // At most 254 pairs that differ stand for `marks`.
  explicit MarkSearch(const std::vector<Mark>& marks);
  // The groups of which `line` holds a mark.
  Groups Find(std::string_view line) const;

 private:
  struct Sought {
    std::string_view text;
    size_t at = 0;  // of the pair in it
    size_t group = 0;
  };
  void AddByte(const Mark& mark);
  void AddPair(const Mark& mark);
  // Adds the groups of the marks whose pair this is and that stand there.
  static void Compare(const std::vector<Sought>& sought, std::string_view line,
                      size_t at, Groups* found);

  std::vector<std::pair<char, Groups>> bytes_;  // marks of one byte
  // By pair of bytes: 0: no mark's; else 1 + the index in sought_.
  std::vector<uint8_t> pairs_;
  std::vector<std::vector<Sought>> sought_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MARK_SEARCH_H_
