#include "logs/coverage.h"

#include <algorithm>
#include <array>

#include "logs/scan.h"

namespace nanwatch {

void LogCoverage::Add(const LogCoverage& other) {
  step_lines += other.step_lines;
  unread += other.unread;
  ends_unread |= other.ends_unread;
  for (const Example& example : other.examples) {
    if (examples.size() < kExamples) examples.push_back(example);
  }
}

bool IsDressedNan(std::string_view words) {
  constexpr std::string_view kBefore = " '\"<[({*+-";
  words = InsideCall(words);
  words.remove_prefix(std::min(words.find_first_not_of(kBefore), words.size()));
  std::array<char, 3> low{};
  if (words.size() < low.size()) return false;
  std::transform(words.begin(), words.begin() + low.size(), low.begin(),
                 [](char c) { return static_cast<char>(c | 0x20); });
  return std::string_view(low.data(), low.size()) == "nan";
}

bool Coverage::NoteRead(std::string_view line, uint32_t fields) {
  NoteStep();
  const bool lacks = (fields_ & ~fields) != 0;
  fields_ |= fields;
  if (told_.step_lines <= kLearned) LearnShape(line, fields);
  return lacks;
}

void Coverage::LearnShape(std::string_view line, uint32_t fields) {
  if (shapes_.size() == kShapes) return;
  const bool known = std::any_of(
      shapes_.begin(), shapes_.end(),
      [&](const StepShape& shape) { return shape.Match(line, &words_); });
  if (known) return;
  StepShape shape;
  if (shape.Learn(line, fields)) shapes_.push_back(std::move(shape));
}

const std::vector<WordsForNumber>& Coverage::Find(std::string_view line,
                                                  uint32_t* fields) {
  words_.clear();
  for (const StepShape& shape : shapes_) {
    if (!shape.Match(line, &words_)) {
      words_.clear();
    } else if (!words_.empty()) {
      *fields = shape.fields();
      break;
    }
  }
  return words_;
}

void Coverage::NoteUnread(uint64_t line, bool whole) {
  if (whole) NoteStep();
  ++told_.unread;
  told_.ends_unread = true;
  for (const WordsForNumber& words : words_) {
    if (told_.examples.size() == LogCoverage::kExamples) return;
    const bool known =
        std::any_of(told_.examples.begin(), told_.examples.end(),
                    [&](const LogCoverage::Example& e) {
                      return e.text == words.text && e.name == words.name;
                    });
    if (known) continue;
    told_.examples.push_back(
        {line, std::string(words.name), std::string(words.text)});
  }
}

}  // namespace nanwatch
