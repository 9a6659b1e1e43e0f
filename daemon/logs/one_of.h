// IsOneOf, HasOneOf: a word is one of a list's, or a line holds one.

#ifndef NANWATCH_LOGS_ONE_OF_H_
#define NANWATCH_LOGS_ONE_OF_H_

#include <algorithm>
#include <span>
#include <string_view>

#include "logs/find_word.h"

namespace nanwatch {

inline bool IsOneOf(std::string_view word,
                    std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

inline bool HasOneOf(std::string_view line,
                     std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [line](std::string_view word) {
    return HasWord(line, word);
  });
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ONE_OF_H_
