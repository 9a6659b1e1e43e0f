#include "logs/silent_lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Returns whether the digits that end at `end` are a part of the name before a
// sign, "Top 1 acc: 0.93": that of others may mean something. A clock is none,
// nor is anything else whose last word begins with a digit.
bool IsOfName(std::string_view line, size_t end) {
  const size_t sign = NextSign(line, end);
  if (sign == line.size()) return false;
  const auto goes_on = [](char c) {
    return IsNameCharacter(c) || c == ' ' || c == '\'' || c == '"';
  };
  const std::string_view between = line.substr(end, sign - end);
  if (!std::all_of(between.begin(), between.end(), goes_on)) return false;
  const std::string_view last = NameAtEnd(line.substr(0, sign));
  return last.empty() || !IsDigit(last.front());
}

// Returns the first bytes of `text`, at most `most`, and zeros.
uint64_t HeadOf(std::string_view text, size_t most = sizeof(uint64_t)) {
  uint64_t head = 0;
  std::memcpy(&head, text.data(), std::min({text.size(), most, sizeof head}));
  return head;
}

}  // namespace

bool SilentLines::Match(const Known& known, std::string_view line) {
  size_t at = 0;
  size_t begin = 0;  // in the words
  for (size_t i = 0;; ++i) {
    const size_t end = known.ends[i];
    const size_t size = end - begin;
    if (line.size() - at < size ||
        std::memcmp(line.data() + at, known.words.data() + begin, size) != 0) {
      return false;
    }
    at += size;
    begin = end;
    if (i + 1 == known.ends.size()) return at == line.size();
    const size_t digits = at;
    at = BehindDigits(line, at);
    if (at == digits) return false;
  }
}

std::optional<SilentLines::Kind> SilentLines::Find(std::string_view line) {
  ++lines_;
  const uint64_t head = HeadOf(line);
  for (Known& known : known_) {
    const bool may_be = (head & known.head_mask) == known.head;
    if (!may_be || !Match(known, line)) continue;
    known.seen = lines_;
    return known.kind;
  }
  return std::nullopt;
}

void SilentLines::Learn(std::string_view line, const Kind& kind) {
  const bool full = known_.size() == kKinds;
  if (line.size() > kLineMax || (full && lines_ % kTakesTurns != 0)) return;
  Known known{.words = "", .ends = {}, .kind = kind, .seen = lines_};
  size_t value = BehindNumber(line, 0);  // where the newest ends
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == ':' || c == '=') value = BehindNumber(line, at + 1);
    const size_t end = BehindDigits(line, at);
    if (end == at) {
      known.words += line[at++];
      continue;
    }
    if (at >= value && IsOfName(line, end)) {
      known.words += line.substr(at, end - at);
    } else {
      known.ends.push_back(static_cast<uint16_t>(known.words.size()));
    }
    at = end;
  }
  known.ends.push_back(static_cast<uint16_t>(known.words.size()));
  known.head = HeadOf(known.words, known.ends[0]);
  known.head_mask = HeadOf("\xff\xff\xff\xff\xff\xff\xff\xff", known.ends[0]);
  if (!full) {
    known_.push_back(std::move(known));
    return;
  }
  *std::min_element(known_.begin(), known_.end(),
                    [](const Known& a, const Known& b) {
                      return a.seen < b.seen;
                    }) = std::move(known);
}

}  // namespace nanwatch
