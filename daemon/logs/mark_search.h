// MarkSearch: which formats' marks a line holds. Each mark is stood for by the
// two bytes in a row of it that logs hold least; a line is looked through for a
// hundred such pairs in one pass, without a branch a byte, and a mark is
// compared only where its pair is.

#ifndef NANWATCH_LOGS_MARK_SEARCH_H_
#define NANWATCH_LOGS_MARK_SEARCH_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace nanwatch {

// Numbers below 128, a bit each.
class MarkGroups {
 public:
  static constexpr size_t kMax = 128;

  void Set(size_t group) { words_[group / 64] |= uint64_t{1} << group % 64; }
  bool Has(size_t group) const {
    return (words_[group / 64] >> group % 64 & 1) != 0;
  }
  bool empty() const { return (words_[0] | words_[1]) == 0; }
  MarkGroups& operator|=(const MarkGroups& other) {
    words_[0] |= other.words_[0];
    words_[1] |= other.words_[1];
    return *this;
  }
  bool operator==(const MarkGroups&) const = default;
  // The lowest; it is taken out. REQUIRES: !empty().
  size_t Take() {
    const size_t word = words_[0] != 0 ? 0 : 1;
    const auto bit = static_cast<size_t>(std::countr_zero(words_[word]));
    words_[word] &= words_[word] - 1;
    return 64 * word + bit;
  }

 private:
  std::array<uint64_t, 2> words_{};
};

class MarkSearch {
 public:
  static constexpr size_t kGroups = MarkGroups::kMax;
  using Groups = MarkGroups;
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
    char first = 0;  // of it
    size_t at = 0;   // of the pair in it
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
