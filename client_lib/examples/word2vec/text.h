// Text: English words, in order, lower case.

#ifndef NANWATCH_WORD2VEC_TEXT_H_
#define NANWATCH_WORD2VEC_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace word2vec {

// Either words, or a sentence that says why there are none.
struct Text {
  std::vector<std::string> words;
  std::string error;
};

// Words of `raw` without punctuation. Lines that end in a number and do not
// begin with a space are chapter headings ("Genesis 1") and left out, as are
// all digits (verse numbers).
std::vector<std::string> Words(std::string_view raw);

// The text in `file`; empty: the King James Bible that Debian's package
// bible-kjv prints.
Text ReadText(const std::string& file);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_TEXT_H_
