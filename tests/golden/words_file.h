// WordsFile: the texts of a program's tests, as words/PROGRAM.txt holds them.

#ifndef NANWATCH_TESTS_GOLDEN_WORDS_FILE_H_
#define NANWATCH_TESTS_GOLDEN_WORDS_FILE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

// By test, "Suite.Test", in the order in which it says them.
using WordsFile = std::map<std::string, std::vector<std::string>>;

// A test is a line `[Suite.Test]`; a text is a line, "(nothing)" where it is
// empty. The further lines of a text are indented by two blanks.
std::string Format(const WordsFile& words);
WordsFile ParseWords(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_GOLDEN_WORDS_FILE_H_
