#include "logs/mark_search.h"

#include <algorithm>

#include "base/check.h"

namespace nanwatch {
namespace {

constexpr size_t kPairs = 65536;
// Pairs that are looked up before asking whether one of them was a mark's.
constexpr size_t kAtOnce = 8;

size_t PairAt(const char* text) {
  return static_cast<size_t>(static_cast<uint8_t>(text[0])) |
         static_cast<size_t>(static_cast<uint8_t>(text[1])) << 8;
}

// How much of a log is this byte, roughly; only speed depends on it.
int Commonness(char c) {
  constexpr std::string_view kCommon = "etaoinsr.:,";
  constexpr std::string_view kUsual = "-/_=()[]\"'|";
  if (c == ' ' || (c >= '0' && c <= '9')) return 16;
  if (kCommon.find(c) != std::string_view::npos) return 8;
  const bool small = c >= 'a' && c <= 'z';
  if (small || kUsual.find(c) != std::string_view::npos) return 4;
  return 1;
}

}  // namespace

MarkSearch::MarkSearch(const std::vector<Mark>& marks) : pairs_(kPairs) {
  for (const Mark& mark : marks) {
    CHECK(!mark.text.empty() && mark.group < kGroups);
    if (mark.text.size() == 1) {
      AddByte(mark);
    } else {
      AddPair(mark);
    }
  }
}

void MarkSearch::AddByte(const Mark& mark) {
  const char byte = mark.text.front();
  auto held = std::find_if(bytes_.begin(), bytes_.end(),
                           [byte](const auto& b) { return b.first == byte; });
  if (held == bytes_.end()) held = bytes_.insert(held, {byte, Groups()});
  held->second.Set(mark.group);
}

void MarkSearch::AddPair(const Mark& mark) {
  size_t rarest = 0;
  int least = 1000;
  for (size_t at = 0; at + 1 < mark.text.size(); ++at) {
    const int common =
        Commonness(mark.text[at]) * Commonness(mark.text[at + 1]);
    if (common >= least) continue;
    least = common;
    rarest = at;
  }
  uint8_t& held = pairs_[PairAt(mark.text.data() + rarest)];
  if (held == 0) {
    CHECK(sought_.size() < 255);
    sought_.emplace_back();
    held = static_cast<uint8_t>(sought_.size());
  }
  sought_[held - 1u].push_back(
      {mark.text, mark.text.front(), rarest, mark.group});
}

void MarkSearch::Compare(const std::vector<Sought>& sought,
                         std::string_view line, size_t at, Groups* found) {
  for (const Sought& s : sought) {
    if (at < s.at || line[at - s.at] != s.first) continue;
    if (line.substr(at - s.at).starts_with(s.text)) found->Set(s.group);
  }
}

MarkSearch::Groups MarkSearch::Find(std::string_view line) const {
  Groups found;
  for (const auto& [byte, groups] : bytes_) {
    if (line.find(byte) != std::string_view::npos) found |= groups;
  }
  if (line.size() < 2 || sought_.empty()) return found;
  const uint8_t* const pairs = pairs_.data();
  const size_t end = line.size() - 1;  // of the pairs' beginnings
  size_t at = 0;
  while (at < end) {
    const size_t stop = std::min(end, at + kAtOnce);
    if (stop == at + kAtOnce) {
      uint8_t any = 0;
      for (size_t i = 0; i < kAtOnce; ++i) {
        any |= pairs[PairAt(line.data() + at + i)];
      }
      if (any == 0) {
        at = stop;
        continue;
      }
    }
    for (; at < stop; ++at) {
      const uint8_t held = pairs[PairAt(line.data() + at)];
      if (held != 0) Compare(sought_[held - 1u], line, at, &found);
    }
  }
  return found;
}

}  // namespace nanwatch
