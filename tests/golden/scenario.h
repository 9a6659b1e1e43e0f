// Scenario: a run told in text, and what must be found in it. The notation is
// in README.md beside this file.

#ifndef NANWATCH_TESTS_GOLDEN_SCENARIO_H_
#define NANWATCH_TESTS_GOLDEN_SCENARIO_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/op.h"
#include "model/run.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {

// Words of a line: plain ones in order, and key=value ones.
struct Line {
  int number = 0;
  std::string text;
  std::vector<std::string> words;
  std::map<std::string, std::string> options;
};

// Statuses of one op at some steps of some ranks.
struct OpTrack {
  std::vector<int> ranks;
  int64_t from = 0;
  int64_t to = 0;
  OpCell cell;
};

// Something that happens, or is expected, at a moment.
struct Moment {
  Duration at{};
  bool expect = false;
  Line line;
};

struct Scenario {
  std::string run_id;
  RunDescription run;
  int ranks = 1;
  Duration every = std::chrono::seconds(1);
  std::vector<OpName> ops;
  std::vector<std::vector<Row>> rows;  // by rank
  std::vector<OpTrack> op_tracks;
  std::vector<Moment> moments;  // in the order of the text
};

// An error names the line.
Result<Scenario> ParseScenario(std::string_view text);

struct Played {
  // What was expected and is not so, with what is instead.
  std::vector<std::string> failures;
  // What is said at each time at which something is expected.
  std::string words;
};
Played Play(const Scenario& scenario);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_GOLDEN_SCENARIO_H_
