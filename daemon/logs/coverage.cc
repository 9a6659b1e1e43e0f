#include "logs/coverage.h"

#include <algorithm>

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
  constexpr std::string_view kBefore = " '\"<[({*+-.";
  words = InsideCall(words);
  words.remove_prefix(std::min(words.find_first_not_of(kBefore), words.size()));
  return LowerCase(words.substr(0, 3)) == "nan";
}

bool Coverage::NoteRead(std::string_view line, uint32_t fields) {
  const bool lacks = (fields_ & ~fields) != 0;
  ++told_.step_lines;
  told_.ends_unread = false;
  if (!lacks && gap_ > 0) EndGap();
  fields_ |= fields;
  if (told_.step_lines <= kLearned) LearnShape(line, fields);
  return lacks;
}

void Coverage::LearnShape(std::string_view line, uint32_t fields) {
  if (shapes_.size() == kShapes) return;
  const bool known = std::any_of(
      shapes_.begin(), shapes_.end(),
      [&](const StepShape& shape) { return shape.Match(line, &words_); });
  names_.Learn(line);
  if (known) return;
  StepShape shape;
  if (shape.Learn(line, fields)) shapes_.push_back(std::move(shape));
}

const std::vector<WordsForNumber>& Coverage::Find(std::string_view line,
                                                  uint32_t* fields) {
  words_.clear();
  by_name_ = false;
  alike_ = false;
  for (const StepShape& shape : shapes_) {
    if (!shape.Match(line, &words_)) {
      words_.clear();
    } else if (words_.empty()) {
      alike_ = true;
      return words_;
    } else {
      *fields = shape.fields();
      return words_;
    }
  }
  names_.Find(line, &words_);
  std::erase_if(words_, [this](const WordsForNumber& words) {
    const ColumnMeaning meaning = columns_.Of(words.name);
    return meaning != ColumnMeaning::kLoss &&
           meaning != ColumnMeaning::kCrossEntropy &&
           meaning != ColumnMeaning::kGradNorm;
  });
  by_name_ = !words_.empty();
  *fields = fields_;
  return words_;
}

void Coverage::NoteExample(uint64_t line, LogCoverage* coverage) const {
  for (const WordsForNumber& words : words_) {
    if (coverage->examples.size() == LogCoverage::kExamples) return;
    const bool known =
        std::any_of(coverage->examples.begin(), coverage->examples.end(),
                    [&](const LogCoverage::Example& e) {
                      return e.text == words.text && e.name == words.name;
                    });
    if (known) continue;
    coverage->examples.push_back(
        {line, std::string(words.name), std::string(words.text)});
  }
}

void Coverage::NoteUnread(uint64_t line, bool whole) {
  const bool nothing =
      std::all_of(words_.begin(), words_.end(),
                  [](const WordsForNumber& w) { return w.text.empty(); });
  if (nothing || by_name_) {
    if (gap_++ == 0) lacking_ = {};
    NoteExample(line, &lacking_);
    return;
  }
  if (whole) NoteStep();
  ++told_.unread;
  told_.ends_unread = true;
  NoteExample(line, &told_);
}

void Coverage::NoteSilent(uint64_t line) {
  if (alike_ && silent_++ == 0) first_silent_ = line;
}

void Coverage::EndGap() {
  longest_gap_ = std::max(longest_gap_, gap_);
  gap_ = 0;
  ++gaps_;
}

// The newest gap is none of those that come again and again.
bool Coverage::IsLacking() const {
  return gap_ > std::max<uint64_t>(1, 2 * longest_gap_);
}

LogCoverage Coverage::told() const {
  LogCoverage told = told_;
  const double most = kSilentShare * static_cast<double>(told.step_lines);
  if (static_cast<double>(silent_) > most) {
    told.step_lines += silent_;
    told.unread += silent_;
    told.examples.push_back(
        {.line = first_silent_, .whole = LogCoverage::Example::Whole::kAlike});
  }
  // One alone is none of a kind, either.
  const bool once = gaps_ == 1 && gap_ == 0 && longest_gap_ > 1;
  if (!IsLacking() && !once) return told;
  const uint64_t lines = once ? longest_gap_ : gap_;
  told.step_lines += lines;
  told.unread += lines;
  told.ends_unread |= !once;
  for (const LogCoverage::Example& example : lacking_.examples) {
    if (told.examples.size() < LogCoverage::kExamples) {
      told.examples.push_back(example);
    }
  }
  return told;
}

}  // namespace nanwatch
