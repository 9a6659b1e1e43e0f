// StepCopies: tells a step line from its copies. Where every rank prints the
// step lines, one step stands in the log 8 or 1,024 times, often some lines
// late.

#ifndef NANWATCH_LOGS_STEP_COPIES_H_
#define NANWATCH_LOGS_STEP_COPIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "logs/fact.h"

namespace nanwatch {

class StepCopies {
 public:
  // Whether a kProgress fact, in the order of the log, is another rank's word
  // on a step that was told: it shows no other number of the scaler, and
  // nothing that the first did not show. Losses and norms may differ by rank;
  // the first one that is not finite is told, too. `skips_take_steps`: a
  // skipped update is never tried again under the same step.
  bool IsCopy(const LogFact& fact, bool skips_take_steps);

 private:
  // What the first line of a step showed.
  struct Line {
    int64_t step = -1;  // -1: none
    uint32_t present = 0;
    double scale = 0;
    double loss = 0;
    double norm = 0;
    std::optional<bool> overflow;
    std::optional<int64_t> skipped_since;
    std::optional<int64_t> skipped_total;
    bool blown = false;  // a loss or norm that is not finite was told
    int32_t seen = 1;    // with its copies
  };

  static Line Of(const LogFact& fact);
  static bool SameScaler(const Line& told, const Line& line);
  static bool SameNumbers(const Line& told, const Line& line);
  static bool ShowsLoss(const Line& line);
  Line* Find(const Line& line);
  void Push(const Line& line);
  bool MayBeCopy(const Line& told, const Line& line,
                 bool skips_take_steps) const;

  // Ranks are that many step lines late at most.
  static constexpr size_t kLines = 16;
  std::array<Line, kLines> lines_;
  size_t newest_ = 0;
  bool differ_ = false;  // copies, side by side, did
  int32_t copies_ = 1;   // how many ranks print, by steps that did not overflow
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_STEP_COPIES_H_
