// ForEachWord: the words of a line, without its numbers' signs.

#ifndef NANWATCH_LOGS_EACH_WORD_H_
#define NANWATCH_LOGS_EACH_WORD_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Gives the words of `text`, in lower case, to `visit`.
template <typename Visit>
void ForEachWord(std::string_view text, Visit&& visit) {
  std::string word;
  const auto tell = [&] {
    if (!word.empty()) visit(std::string_view(word));
    word.clear();
  };
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || c == '_' || c == '/' ||
        (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) {
      word += upper ? static_cast<char>(c | 0x20) : c;
    } else {
      tell();
    }
  }
  tell();
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EACH_WORD_H_
