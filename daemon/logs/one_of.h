// IsOneOf: a word is one of a list's.

#ifndef NANWATCH_LOGS_ONE_OF_H_
#define NANWATCH_LOGS_ONE_OF_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace nanwatch {

template <size_t n>
bool IsOneOf(std::string_view word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ONE_OF_H_
