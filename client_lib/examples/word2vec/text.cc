#include "text.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace word2vec {
namespace {

constexpr char kBible[] = "bible 'gen1:1-rev22:21' 2>/dev/null";
constexpr size_t kLeastWords = 10'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHeading(std::string_view line) {
  return !line.empty() && line.front() != ' ' && IsDigit(line.back());
}

void AppendWords(std::string_view line, std::vector<std::string>* words) {
  std::string word;
  for (size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (lower >= 'a' && lower <= 'z') {
      word.push_back(lower);
    } else if (!word.empty()) {
      // The s of "Isaac's" is no word.
      const bool genitive = word == "s" && i >= 2 && line[i - 2] == '\'';
      if (!genitive) words->push_back(word);
      word.clear();
    }
  }
}

std::string ReadBible() {
  std::string raw;
  FILE* pipe = popen(kBible, "r");
  if (pipe == nullptr) return raw;
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    raw.append(buffer, n);
  }
  return pclose(pipe) == 0 ? raw : std::string();
}

}  // namespace

std::vector<std::string> Words(std::string_view raw) {
  std::vector<std::string> words;
  while (!raw.empty()) {
    const size_t end = std::min(raw.find('\n'), raw.size());
    const std::string_view line = raw.substr(0, end);
    if (!IsHeading(line)) AppendWords(line, &words);
    raw.remove_prefix(std::min(end + 1, raw.size()));
  }
  return words;
}

Text ReadText(const std::string& file) {
  Text text;
  std::string raw;
  if (file.empty()) {
    raw = ReadBible();
    if (raw.empty()) {
      text.error =
          "The command `bible`, which prints the text to train on, is not "
          "there: install it with `apt-get install bible-kjv`, or name a text "
          "of your own with --text FILE.";
      return text;
    }
  } else {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      text.error = "The text " + file +
                   " cannot be read: name a readable file with --text.";
      return text;
    }
    std::ostringstream content;
    content << in.rdbuf();
    raw = content.str();
  }
  text.words = Words(raw);
  if (text.words.size() < kLeastWords) {
    text.error = "The text has " + std::to_string(text.words.size()) +
                 " words, too few to learn from: give at least " +
                 std::to_string(kLeastWords) + ".";
  }
  return text;
}

}  // namespace word2vec
