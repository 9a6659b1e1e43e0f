#include "logs/rank_prefix.h"

#include <algorithm>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr int64_t kRankMax = 1'000'000;

}  // namespace

RankPrefix ReadRankPrefix(std::string_view line) {
  if (!line.starts_with('[')) return {};
  Scan scan(line);
  const bool named = scan.Skip("[rank");
  if (!named && !scan.Skip("[default")) return {};
  if (scan.peek() < '0' || scan.peek() > '9') return {};
  const std::optional<int64_t> number = scan.Integer();
  if (!number || *number > kRankMax || !scan.Skip("]:")) return {};
  scan.SkipBlanks();
  RankPrefix prefix{scan.at(), std::nullopt};
  if (named) prefix.rank = static_cast<int32_t>(*number);
  return prefix;
}

bool NamedRanks::Complete(int32_t rank) {
  const size_t at = static_cast<size_t>(std::min(rank, kMax));
  if (seen_.size() <= at) seen_.resize(at + 1);
  if (!seen_[at]) ++count_;
  seen_[at] = true;
  return count_ == seen_.size() && seen_.size() <= kMax;
}

size_t BehindTaskNumber(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(" \t"), line.size());
  size_t end = at;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  if (end == at || !line.substr(end).starts_with(": ")) return at;
  return std::min(line.find_first_not_of(" \t", end + 1), line.size());
}

}  // namespace nanwatch
