#include "dumps/json_scan.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "dumps/number_text.h"

namespace nanwatch {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// What numbers, true, false, null, NaN and Infinity are written with.
bool IsOfWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

std::optional<double> WordsNumber(const std::string& word) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::nan("");
  if (word == "Infinity") return kInfinity;
  if (word == "-Infinity") return -kInfinity;
  // NumberIn knows words, too.
  const size_t first = word[0] == '-' ? 1 : 0;
  if (first >= word.size() || word[first] < '0' || word[first] > '9') {
    return std::nullopt;
  }
  return NumberIn(word);
}

// Appends a code point as UTF-8; half of a surrogate pair as U+FFFD.
void AppendUtf8(uint32_t code, std::string* text) {
  if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;
  const auto byte = [text](uint32_t bits) {
    text->push_back(static_cast<char>(bits));
  };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace

Status JsonScan::Wrong(const std::string& what) const {
  return Error{fmt::format("line {}: {}", line_, what)};
}

Status JsonScan::Feed(std::string_view bytes) {
  for (const char c : bytes) {
    const Status taken = Take(c);
    if (!taken.ok()) return taken;
    if (c == '\n') ++line_;
  }
  return OkStatus();
}

Status JsonScan::Finish() {
  if (within_ == Within::kWord) {
    const Status ended = EndWord();
    if (!ended.ok()) return ended;
  }
  if (expects_ != Expects::kNothing) return Wrong("the file ends too early");
  return OkStatus();
}

Status JsonScan::Take(char c) {
  switch (within_) {
    case Within::kText:
    case Within::kEscape:
      return TakeInText(c);
    case Within::kUnicode:
      return TakeUnicode(c);
    case Within::kWord:
      if (IsOfWord(c)) {
        if (text_.size() == kJsonWordBytes) return Wrong("a word is too long");
        text_.push_back(c);
        return OkStatus();
      }
      if (const Status ended = EndWord(); !ended.ok()) return ended;
      break;
    case Within::kNothing:
      break;
  }
  return IsSpace(c) ? OkStatus() : TakeOutside(c);
}

Status JsonScan::TakeOutside(char c) {
  const bool value =
      expects_ == Expects::kValue || expects_ == Expects::kValueOrEnd;
  const bool key = expects_ == Expects::kKey || expects_ == Expects::kKeyOrEnd;
  if (c == '"' && (value || key)) {
    is_key_ = key;
    text_.clear();
    within_ = Within::kText;
    return OkStatus();
  }
  if (value && (c == '{' || c == '[')) return Begin(c == '{');
  if (c == '}' || c == ']') return End(c == '}');
  if (c == ':' && expects_ == Expects::kColon) {
    expects_ = Expects::kValue;
    return OkStatus();
  }
  if (c == ',' && expects_ == Expects::kCommaOrEnd) {
    expects_ = open_.back() ? Expects::kKey : Expects::kValue;
    return OkStatus();
  }
  if (value && IsOfWord(c)) {
    text_.assign(1, c);
    within_ = Within::kWord;
    return OkStatus();
  }
  return Wrong("this is no JSON");
}

Status JsonScan::Begin(bool is_object) {
  if (open_.size() == kJsonDepth) {
    return Wrong(fmt::format("it nests more than {} times", kJsonDepth));
  }
  open_.push_back(is_object);
  expects_ = is_object ? Expects::kKeyOrEnd : Expects::kValueOrEnd;
  listener_->OnBegin(is_object);
  return OkStatus();
}

Status JsonScan::End(bool is_object) {
  const bool at_end =
      expects_ == Expects::kCommaOrEnd ||
      expects_ == (is_object ? Expects::kKeyOrEnd : Expects::kValueOrEnd);
  if (!at_end || open_.empty() || open_.back() != is_object) {
    return Wrong("this is no JSON");
  }
  open_.pop_back();
  listener_->OnEnd();
  EndValue();
  return OkStatus();
}

void JsonScan::EndValue() {
  expects_ = open_.empty() ? Expects::kNothing : Expects::kCommaOrEnd;
}

Status JsonScan::TakeInText(char c) {
  if (within_ == Within::kText) {
    if (c == '"') return EndText();
    if (c == '\\') {
      within_ = Within::kEscape;
      return OkStatus();
    }
  } else {
    within_ = Within::kText;
    constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
    const size_t at = kFrom.find(c);
    if (c == 'u') {
      within_ = Within::kUnicode;
      unicode_ = 0;
      unicode_digits_ = 0;
      return OkStatus();
    }
    if (at != std::string_view::npos) {
      c = kTo[at];
    } else if (c != '"' && c != '\\' && c != '/') {
      return Wrong("a text has an escape that JSON does not know");
    }
  }
  if (text_.size() < kJsonTextBytes) {
    text_.push_back(c);
  } else if (is_key_) {
    return Wrong(fmt::format("a name is longer than {} bytes", kJsonTextBytes));
  }
  return OkStatus();
}

Status JsonScan::TakeUnicode(char c) {
  uint32_t digit = 0;
  const auto [last, error] = std::from_chars(&c, &c + 1, digit, 16);
  if (error != std::errc()) return Wrong("a text has a broken escape");
  unicode_ = unicode_ << 4 | digit;
  if (++unicode_digits_ < 4) return OkStatus();
  within_ = Within::kText;
  if (text_.size() + 3 <= kJsonTextBytes) AppendUtf8(unicode_, &text_);
  return OkStatus();
}

Status JsonScan::EndText() {
  within_ = Within::kNothing;
  if (is_key_) {
    expects_ = Expects::kColon;
    listener_->OnKey(text_);
  } else {
    listener_->OnText(text_);
    EndValue();
  }
  return OkStatus();
}

Status JsonScan::EndWord() {
  within_ = Within::kNothing;
  if (text_ == "null") {
    listener_->OnNull();
  } else if (text_ == "true" || text_ == "false") {
    listener_->OnBool(text_ == "true");
  } else if (const std::optional<double> number = WordsNumber(text_)) {
    listener_->OnNumber(*number, text_);
  } else {
    return Wrong(fmt::format("\"{}\" is no number", text_));
  }
  EndValue();
  return OkStatus();
}

}  // namespace nanwatch
