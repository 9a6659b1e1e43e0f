#include "tests/golden/words_file.h"

#include <sstream>

namespace nanwatch {
namespace {

constexpr std::string_view kNothing = "(nothing)";
constexpr std::string_view kIndent = "  ";

std::string Indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += kIndent;
  }
  return out;
}

}  // namespace

std::string Format(const WordsFile& words) {
  std::string out;
  for (const auto& [test, texts] : words) {
    if (texts.empty()) continue;
    if (!out.empty()) out += "\n";
    out += '[';
    out += test;
    out += "]\n";
    for (const std::string& text : texts) {
      out += text.empty() ? std::string(kNothing) : Indented(text);
      out += '\n';
    }
  }
  return out;
}

WordsFile ParseWords(std::string_view text) {
  WordsFile words;
  std::vector<std::string>* texts = nullptr;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']') {
      texts = &words[line.substr(1, line.size() - 2)];
    } else if (texts == nullptr) {
      continue;
    } else if (line.starts_with(kIndent) && !texts->empty()) {
      texts->back() += '\n';
      texts->back() += line.substr(kIndent.size());
    } else {
      texts->push_back(line == kNothing ? "" : line);
    }
  }
  return words;
}

}  // namespace nanwatch
