// Words as goldens: what a program says of a case stands in a file, so that a
// sentence is reworded in one place, and a test asserts fields. `rewrite`
// beside this file writes all of them anew; the diff is to be read.

#ifndef NANWATCH_TESTS_GOLDEN_WORDS_H_
#define NANWATCH_TESTS_GOLDEN_WORDS_H_

#include <source_location>
#include <string>
#include <string_view>

namespace nanwatch {

// Compares the text with what words/PROGRAM.txt holds for the test that runs:
// its first text with the first call, its second with the second, where a text
// that is said twice in a row stands once. A mismatch is a failure of that
// test. With NANWATCH_WRITE_GOLDENS=1, the program writes the file at its end.
void ExpectWords(std::string_view text,
                 std::source_location from = std::source_location::current());

// Compares the text with the whole file words/NAME, or writes that file.
void ExpectWordsFile(
    const std::string& name, std::string_view text,
    std::source_location from = std::source_location::current());

// Returns the path of the folder `words`.
std::string WordsFolder();

// Returns true when goldens are written, not read.
bool WritesGoldens();

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_GOLDEN_WORDS_H_
