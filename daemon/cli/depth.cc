#include "cli/depth.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace nanwatch {
namespace {

// Of a report: with the line that says how bad it is above it, 40, what a
// terminal shows at once; ours.
constexpr int kLines = 39;

// What is shown more of as long as it fits, by turns and in this order; most of
// what to do.
constexpr int Depth::*kDepths[] = {
    &Depth::actions,   &Depth::actions,  &Depth::evidence, &Depth::causes,
    &Depth::incidents, &Depth::findings, &Depth::rows,     &Depth::attempts};
constexpr Depth kLeast{.attempts = 1,
                       .causes = 1,
                       .evidence = 1,
                       .actions = 1,
                       .incidents = 1,
                       .findings = 0,
                       .rows = 2};
constexpr int kTurns = 30;  // more than a screen has room for; ours

int CountLines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string OneScreen(const std::function<std::string(const Depth&)>& report,
                      std::string_view more, const Style& style) {
  const std::string whole = report({});
  const int all = CountLines(whole);
  if (all <= kLines) return whole;
  Depth depth = kLeast;
  std::string text = report(depth);
  std::vector<int Depth::*> kinds(std::begin(kDepths), std::end(kDepths));
  for (int turn = 0; turn < kTurns && !kinds.empty(); ++turn) {
    std::erase_if(kinds, [&](int Depth::*kind) {
      ++(depth.*kind);
      std::string longer = report(depth);
      const bool fits = CountLines(longer) < kLines;
      if (fits) {
        text = std::move(longer);
      } else {
        --(depth.*kind);
      }
      return !fits;
    });
  }
  const int left_out = all - CountLines(text);
  if (left_out <= 0) return text;  // a very narrow terminal
  return text +
         style.Dim(fmt::format("{} more {}: {}", left_out,
                               left_out == 1 ? "line" : "lines", more)) +
         '\n';
}

std::string AndMore(int all, int shown, std::string_view noun, int indent) {
  if (all <= shown) return "";
  const auto left_out = static_cast<uint64_t>(all - shown);
  return fmt::format("{:{}}and {} more {}{}\n", "", indent, Grouped(left_out),
                     noun, left_out == 1 ? "" : "s");
}

}  // namespace nanwatch
