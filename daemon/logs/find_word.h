// FindWord: where a word stands in a line, 16 places at a time. The standard
// library asks for each place that the word may begin at.

#ifndef NANWATCH_LOGS_FIND_WORD_H_
#define NANWATCH_LOGS_FIND_WORD_H_

#include <cstddef>
#include <string_view>

namespace nanwatch {

// The first place of `word` in `line` from `at` on; npos: it is not there.
// REQUIRES: !word.empty().
size_t FindWord(std::string_view line, std::string_view word, size_t at = 0);

inline bool HasWord(std::string_view line, std::string_view word) {
  return FindWord(line, word) != std::string_view::npos;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FIND_WORD_H_
