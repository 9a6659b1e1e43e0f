#include "logs/line_splitter.h"

#include <algorithm>
#include <utility>

#include "logs/in_words.h"

namespace nanwatch {
namespace {

// The next `c` of `text` from `at` on; its size: there is none.
size_t IndexOf(char c, std::string_view text, size_t at) {
  return std::min(text.find(c, at), text.size());
}

// Returns where the next backspaces are that draw a line over. A single one,
// within a line, strikes a letter over.
size_t BackAt(std::string_view text, size_t from) {
  const bool more = from < text.size() && text[from] == '\b';
  return more ? from : std::min(text.find("\b\b", from), text.size());
}

constexpr size_t kMark = 4;  // bytes that show whether a text is UTF-16

// Bytes of `head` before the first of text, where it is UTF-16: -1: it is not.
// Without a byte order mark, the zeros beside two letters tell.
int BytesBeforeText(std::string_view head) {
  if (head.starts_with("\xff\xfe")) return 2;
  if (head.starts_with("\xfe\xff")) return 3;
  if (head.size() < kMark) return -1;
  const auto zero = [head](size_t at) { return head[at] == '\0'; };
  if (zero(0) != zero(1) && zero(0) == zero(2) && zero(1) == zero(3)) {
    return zero(0) ? 1 : 0;
  }
  return -1;
}

}  // namespace

LineSplitter::LineSplitter(OnLine on_line) : on_line_(std::move(on_line)) {}

void LineSplitter::Feed(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!begun_text_) {
    mark_ += bytes;
    if (mark_.size() >= kMark) Begin();
    return;
  }
  FeedBytes(bytes);
}

void LineSplitter::Begin() {
  begun_text_ = true;
  const int before = BytesBeforeText(mark_);
  if (before >= 0) wide_ = 0;
  const size_t skipped = static_cast<size_t>(std::max(before, 0));
  FeedBytes(std::string_view(mark_).substr(std::min(skipped, mark_.size())));
  mark_.clear();
}

void LineSplitter::FeedBytes(std::string_view bytes) {
  if (wide_ < 0) {
    FeedText(bytes);
    return;
  }
  narrow_.clear();
  for (const char byte : bytes) {
    if (wide_ == 0) narrow_.push_back(byte);
    wide_ = 1 - wide_;
  }
  FeedText(narrow_);
}

void LineSplitter::FeedText(std::string_view text) {
  // Kept while the ends before them are \r: a progress bar has many of them.
  size_t feed = IndexOf('\n', text, 0);
  size_t back = BackAt(text, 0);
  for (size_t begin = 0; begin < text.size();) {
    if (feed < begin) feed = IndexOf('\n', text, begin);
    if (back < begin) back = BackAt(text, begin);
    const size_t end =
        IndexOf('\r', text.substr(0, std::min(feed, back)), begin);
    const std::string_view line = text.substr(begin, end - begin);
    if (end == text.size()) {
      Keep(line);
      return;
    }
    if (begun_.empty() && !cut_ && line.size() <= kLogLineMax) {
      first_ = false;
      if (!line.empty()) on_line_(line);
    } else {
      Keep(line);
      End();
    }
    begin = end + 1;
  }
}

void LineSplitter::Keep(std::string_view part) {
  while (!cut_) {
    const size_t room = kLogLineMax - begun_.size();
    begun_.append(part.substr(0, room));
    if (part.size() <= room) return;
    part.remove_prefix(room);
    cut_ = !PassBars() && !PassNumbers();
  }
}

bool LineSplitter::PassBars() {
  size_t all = 0;
  const std::string_view line = begun_;
  for (size_t end = EndOfGluedBar(line); end < line.size() - all;
       end = EndOfGluedBar(line.substr(all))) {
    all += end;
  }
  if (all == 0) return false;
  on_line_(line.substr(0, all));
  begun_.erase(0, all);
  return true;
}

bool LineSplitter::PassNumbers() {
  if (first_) in_object_ = begun_.starts_with('{');
  first_ = false;
  const size_t end = begun_.rfind(',');
  if (!in_object_ || end == begun_.npos) return false;
  on_line_(std::string_view(begun_).substr(0, end + 1));
  begun_.erase(0, end + 1);
  return true;
}

void LineSplitter::End() {
  if (!begun_.empty()) on_line_(begun_);
  if (cut_) ++cut_lines_;
  begun_.clear();
  cut_ = false;
  first_ = in_object_ = false;
}

void LineSplitter::Finish() {
  if (!begun_text_) Begin();
  End();
}

}  // namespace nanwatch
