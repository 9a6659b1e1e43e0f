// What the engine makes of many generated stories: false alarms on healthy
// ones, and of troubles how many are found, how soon, and called by their name.

#ifndef NANWATCH_TESTS_JUDGE_VERDICTS_H_
#define NANWATCH_TESTS_JUDGE_VERDICTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/generate/trouble.h"

namespace nanwatch {

struct HealthyVerdict {
  // Of one texture.
  struct Row {
    uint64_t updates = 0;
    int warnings = 0;
    int criticals = 0;
  };
  int runs = 0;
  uint64_t updates = 0;
  int warnings = 0;   // incidents that were a warning or worse
  int criticals = 0;  // of those
  std::map<std::string, Row> by_kind;
  std::vector<std::string> alarms;  // one sentence each, with the seed
};
// Seeds first .. first + runs - 1; every other one is of HealthyCourse.
HealthyVerdict JudgeHealthy(uint64_t first, int runs, int64_t steps);
// Of ranks that report losses and norms of their own.
HealthyVerdict JudgeHealthyRanks(uint64_t first, int runs, int64_t steps);

struct TroubleVerdict {
  double effect = 0;
  int stories = 0;
  int found = 0;  // warned of; harmless ones: named, and not warned of
  int named = 0;  // its cause stands first in the diagnosis
  int early = 0;  // warned of before it began: false alarms
  std::vector<int> delays;          // steps from the onset, of those found
  std::vector<std::string> missed;  // one sentence each: seed, what was said
};
TroubleVerdict JudgeTrouble(const generate::TroubleKind& kind, int seeds,
                            double effect);

// The effects of the whole curve.
const std::vector<double>& EffectSizes();

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_JUDGE_VERDICTS_H_
