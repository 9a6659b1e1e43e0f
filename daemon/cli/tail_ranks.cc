#include "cli/tail_ranks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <string_view>

namespace nanwatch {
namespace {

// What is more is a date or a process.
constexpr int32_t kRankMax = 65535;

std::optional<int32_t> WholeNumberIn(std::string_view digits) {
  int32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc() || rest != end || value < 0 ||
      value > kRankMax) {
    return std::nullopt;
  }
  return value;
}

// The digits at the beginning of `text`.
std::string_view Digits(std::string_view text) {
  const auto end =
      std::find_if_not(text.begin(), text.end(),
                       [](unsigned char c) { return std::isdigit(c); });
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

std::string InLowerCase(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// "rank_3", "rank3", "rank-3", "rank=3", "rank.3"; the last there is.
std::optional<int32_t> AfterWord(std::string_view path, std::string_view word) {
  size_t end = std::string_view::npos;
  while (true) {
    const size_t at = path.rfind(word, end);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = path.substr(at + word.size());
    if (!rest.empty() &&
        std::string_view("_-=.").find(rest[0]) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    if (const auto number = WholeNumberIn(Digits(rest))) return number;
    if (at == 0) return std::nullopt;
    end = at - 1;
  }
}

// The last part of `text` between `separators` that is a number.
std::optional<int32_t> NumberAfter(std::string_view text,
                                   std::string_view separators) {
  std::optional<int32_t> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (const auto number = WholeNumberIn(text.substr(0, end))) found = number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

using Find = std::optional<int32_t> (*)(std::string_view path);
constexpr Find kFinds[] = {
    [](std::string_view path) { return AfterWord(path, "rank"); },
    [](std::string_view path) { return AfterWord(path, "worker"); },
    [](std::string_view path) { return AfterWord(path, "device"); },
    [](std::string_view path) { return AfterWord(path, "gpu"); },
    [](std::string_view path) { return AfterWord(path, "npu"); },
    [](std::string_view path) {
      return NumberAfter(path.substr(path.rfind('/') + 1), "._-");
    },
    [](std::string_view path) { return NumberAfter(path, "/"); },
};

// Empty: not all have a number of their own.
std::vector<int32_t> AllDifferent(const std::vector<std::string>& paths,
                                  Find find) {
  std::vector<int32_t> ranks;
  for (const std::string& path : paths) {
    const auto rank = find(InLowerCase(path));
    if (!rank || std::find(ranks.begin(), ranks.end(), *rank) != ranks.end()) {
      return {};
    }
    ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace

std::optional<int32_t> RankOfLog(const std::string& path) {
  return AfterWord(InLowerCase(path), "rank");
}

std::vector<int32_t> RanksOfLogs(const std::vector<std::string>& paths) {
  for (const Find find : kFinds) {
    std::vector<int32_t> ranks = AllDifferent(paths, find);
    if (!ranks.empty()) return ranks;
  }
  std::vector<int32_t> order(paths.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace nanwatch
