// Depth: how much of each kind a report shows. A person at night reads one
// screen: the rest is for `--all`.

#ifndef NANWATCH_CLI_DEPTH_H_
#define NANWATCH_CLI_DEPTH_H_

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "cli/style.h"

namespace nanwatch {

struct Depth {
  static constexpr int kEvery = std::numeric_limits<int>::max();

  int attempts = kEvery;   // of a run, the newest
  int causes = kEvery;     // of an attempt
  int evidence = kEvery;   // of a cause
  int actions = kEvery;    // of a cause
  int incidents = kEvery;  // of an attempt
  int findings = kEvery;   // of an incident; where that is not all, one a rule
  int rows = kEvery;       // of a table
};

// Returns the whole of `report` where it fits a screen; else what fits, and
// below it how many lines are left out and which command (`more`) shows them.
std::string OneScreen(const std::function<std::string(const Depth&)>& report,
                      std::string_view more, const Style& style);

// "and 12 more causes" in a line of its own; empty where none is left out.
std::string AndMore(int all, int shown, std::string_view noun, int indent);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_DEPTH_H_
