// Sentence: a finding's words and numbers, put together.

#ifndef NANWATCH_DETECT_SENTENCE_H_
#define NANWATCH_DETECT_SENTENCE_H_

#include <concepts>
#include <string>
#include <string_view>

namespace nanwatch {

// "65536", "0.00024", "1.3e+06", "NaN", "-Infinity": four digits at most beyond
// those of an integer. "0 as printed" of a bound (model/scale_bound.h).
std::string Number(double value);

inline void AppendWord(std::string* to, std::string_view word) {
  to->append(word);
}
inline void AppendWord(std::string* to, double value) {
  to->append(Number(value));
}
template <std::integral T>
void AppendWord(std::string* to, T value) {
  to->append(std::to_string(value));
}

// Words and numbers, one after another.
template <typename... Words>
std::string Sentence(const Words&... words) {
  std::string sentence;
  (AppendWord(&sentence, words), ...);
  return sentence;
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SENTENCE_H_
