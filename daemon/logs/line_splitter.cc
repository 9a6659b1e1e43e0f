#include "logs/line_splitter.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nanwatch {
namespace {

// The next \n or \r of `text`; its size: there is none.
size_t FindEnd(std::string_view text) {
  const void* feed = std::memchr(text.data(), '\n', text.size());
  const size_t until =
      feed == nullptr
          ? text.size()
          : static_cast<size_t>(static_cast<const char*>(feed) - text.data());
  const void* back = std::memchr(text.data(), '\r', until);
  if (back == nullptr) return until;
  return static_cast<size_t>(static_cast<const char*>(back) - text.data());
}

}  // namespace

LineSplitter::LineSplitter(OnLine on_line) : on_line_(std::move(on_line)) {}

void LineSplitter::Feed(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!begun_text_) {
    mark_ += bytes;
    if (mark_.size() < 2) return;
    begun_text_ = true;
    if (mark_.starts_with("\xff\xfe")) wide_ = 0;
    if (mark_.starts_with("\xfe\xff")) wide_ = 1;
    FeedBytes(wide_ < 0 ? std::string_view(mark_)
                        : std::string_view(mark_).substr(2));
    mark_.clear();
    return;
  }
  FeedBytes(bytes);
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
  while (!text.empty()) {
    const size_t end = FindEnd(text);
    if (end == text.size()) {
      Keep(text);
      return;
    }
    if (begun_.empty() && !cut_ && end <= kLogLineMax) {
      if (end > 0) on_line_(text.substr(0, end));
    } else {
      Keep(text.substr(0, end));
      End();
    }
    text.remove_prefix(end + 1);
  }
}

void LineSplitter::Keep(std::string_view part) {
  const size_t room = kLogLineMax - begun_.size();
  cut_ = cut_ || part.size() > room;
  begun_.append(part.substr(0, std::min(room, part.size())));
}

void LineSplitter::End() {
  if (!begun_.empty()) on_line_(begun_);
  if (cut_) ++cut_lines_;
  begun_.clear();
  cut_ = false;
}

void LineSplitter::Finish() {
  if (!begun_text_) FeedBytes(mark_);
  begun_text_ = true;
  mark_.clear();
  End();
}

}  // namespace nanwatch
