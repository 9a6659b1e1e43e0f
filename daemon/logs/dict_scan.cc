#include "logs/dict_scan.h"

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The end of a string that begins at `at` with its quote; npos: it has none.
size_t EndOfString(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool IsQuote(char c) { return c == '"' || c == '\''; }
bool Opens(char c) { return c == '{' || c == '[' || c == '('; }
bool Closes(char c) { return c == '}' || c == ']' || c == ')'; }

// What an object says of one number that was gathered.
struct Gathered {
  std::string_view mean;
  bool any = true;  // there was something to gather
};

// Reads the object `text` as such. nullopt: it holds other things, too, or no
// mean and count.
std::optional<Gathered> ReadGathered(std::string_view text) {
  constexpr std::string_view kCounts[] = {"num", "count", "n"};
  constexpr std::string_view kOthers[] = {"std", "min", "max", "sum", "var"};
  Gathered found;
  bool counted = false;
  DictScan dict(text);
  while (dict.Next()) {
    if (dict.key() == "mean") {
      found.mean = dict.value();
    } else if (IsOneOf(dict.key(), kCounts)) {
      counted = true;
      found.any = dict.Number().value_or(1) != 0;
    } else if (!IsOneOf(dict.key(), kOthers)) {
      return std::nullopt;
    }
  }
  const bool whole = dict.whole() && counted && !found.mean.empty();
  return whole ? std::optional(found) : std::nullopt;
}

}  // namespace

void DictScan::SkipBlanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

bool DictScan::ReadValue() {
  quoted_ = at_ < text_.size() && IsQuote(text_[at_]);
  if (quoted_) {
    const size_t end = EndOfString(text_, at_);
    if (end == std::string_view::npos) return false;
    value_ = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  const size_t begin = at_;
  int depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (IsQuote(c)) {
      at_ = EndOfString(text_, at_);
      if (at_ == std::string_view::npos) return false;
    } else if (Opens(c)) {
      ++depth;
    } else if (Closes(c) && depth > 0) {
      --depth;
    } else if (depth == 0 && (c == ',' || c == '}')) {
      value_ = TrimBlanks(text_.substr(begin, at_ - begin));
      return true;
    }
  }
  return false;
}

bool DictScan::Next() {
  if (whole_) return false;
  SkipBlanks();
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    SkipBlanks();
  }
  if (at_ >= text_.size()) return false;
  if (text_[at_] == '}') {
    ++at_;
    whole_ = true;
    return false;
  }
  if (!IsQuote(text_[at_])) return false;
  const size_t end = EndOfString(text_, at_);
  if (end == std::string_view::npos) return false;
  key_ = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  SkipBlanks();
  if (at_ >= text_.size() || text_[at_] != ':') return false;
  ++at_;
  SkipBlanks();
  return ReadValue();
}

std::optional<double> DictScan::Number() const {
  std::string_view text = value_;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  return PrintedValue(text);
}

std::optional<int64_t> DictScan::Count() const {
  const std::optional<double> number = Number();
  if (!number || !(*number >= 0 && *number <= 1e9)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

bool DictWalk::Walk(DictScan* dict, int depth, const OnValue& on_value) {
  const size_t outer = path_.size();
  while (dict->Next()) {
    const std::string_view text = dict->value();
    const bool plain = dict->quoted() || text.empty() || !Opens(text.front());
    if (!plain && text.front() != '{') continue;
    if (outer > 0) path_ += '/';
    path_ += dict->key();
    if (plain) {
      on_value(path_, text);
    } else if (const auto gathered = ReadGathered(text)) {
      if (gathered->any) on_value(path_, gathered->mean);
    } else {
      DictScan inner(text);
      if (depth == kDepthMax || !Walk(&inner, depth + 1, on_value))
        return false;
    }
    path_.resize(outer);
  }
  return dict->whole();
}

size_t DictWalk::Read(std::string_view text, const OnValue& on_value) {
  path_.clear();
  DictScan dict(text);
  if (!text.starts_with('{') || !Walk(&dict, 1, on_value)) {
    return std::string_view::npos;
  }
  return dict.at();
}

}  // namespace nanwatch
