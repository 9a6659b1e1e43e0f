#include "dumps/dump_place.h"

#include <charconv>
#include <span>
#include <system_error>

namespace nanwatch {
namespace {

// "step3", "step_3", "step-3" of "step".
std::optional<int64_t> NumberBehind(std::string_view text,
                                    std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (!text.starts_with(word)) continue;
    std::string_view digits = text.substr(word.size());
    if (digits.starts_with('_') || digits.starts_with('-')) {
      digits.remove_prefix(1);
    }
    if (const std::optional<int64_t> number = DigitsOf(digits)) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> DigitsOf(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end) return std::nullopt;
  return number;
}

DumpPlace PlaceOfDump(std::string_view path) {
  constexpr std::string_view kSteps[] = {"step", "iteration", "iter"};
  constexpr std::string_view kRanks[] = {"rank", "device", "proc"};
  DumpPlace place;
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    if (const std::optional<int64_t> step = NumberBehind(folder, kSteps)) {
      place.step = step;
    } else if (const auto rank = NumberBehind(folder, kRanks)) {
      place.rank = rank;
    } else if (folder != "rank") {  // msprobe's, of a program without ranks
      place.folders.emplace_back(folder);
    }
  }
  place.file = path;
  return place;
}

}  // namespace nanwatch
