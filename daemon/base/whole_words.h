// WholeWords: the beginning of a text of others.

#ifndef NANWATCH_BASE_WHOLE_WORDS_H_
#define NANWATCH_BASE_WHOLE_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nanwatch {

// Returns `text`, or the whole words of it that fit in `most` bytes with an
// ellipsis behind them; a single word is cut between characters of UTF-8.
// REQUIRES: most >= 3.
std::string WholeWords(std::string_view text, size_t most);

}  // namespace nanwatch

#endif  // NANWATCH_BASE_WHOLE_WORDS_H_
