// Backtest: a recording judged twice side by side, under the thresholds that
// were recorded with it and under others, by the same engine: what differs is
// the thresholds' doing.

#ifndef NANWATCH_APP_BACKTEST_H_
#define NANWATCH_APP_BACKTEST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/incident_match.h"
#include "app/reading_engine.h"
#include "model/event.h"
#include "model/rule.h"
#include "model/snapshot.h"

namespace nanwatch {

struct BacktestedRun {
  RunKey key;
  uint64_t updates = 0;  // of the optimizer, on the lowest rank
  // From this step to the end nothing was learned: every update was skipped,
  // overflowed, or had a loss that is not finite. Absent: the end was not so.
  std::optional<int64_t> lost_from;
  // See RunView::records_ended.
  bool judged_to_its_end = false;
};

struct ThresholdChange {
  std::string rule;
  std::string threshold;  // "enabled": 0 or 1
  double before = 0;
  double after = 0;
};

struct BacktestOutcome {
  uint64_t events = 0;
  uint64_t steps = 0;  // records, of all ranks
  std::vector<BacktestedRun> runs;
  std::vector<ToldIncident> before;  // by run and step
  std::vector<ToldIncident> after;
  // To what the newest event of the recording that sets rules says.
  std::vector<ThresholdChange> changes;
};

class Backtest {
 public:
  // `rules`: resolved, those to be tried.
  explicit Backtest(RulesInForce rules);

  // Events in their order; checkpoints are passed over. Call it for one
  // recording; `now` never falls.
  void Take(Time now, const Event& event);
  // Call once, last.
  BacktestOutcome Finish();

  // So many updates at the end, in vain one after another, and not fewer, make
  // a run lost. Ours: a start-up calibration from 2^32 takes 34.
  static constexpr uint64_t kLostUpdates = 50;

 private:
  // One of the two judges, and what it said.
  struct Judge {
    ReadingEngine engine;
    Effects effects;
    struct Telling {
      int64_t step = 0;               // as ToldIncident::told_step
      std::vector<Finding> findings;  // the last time
    };
    std::map<std::pair<RunKey, uint64_t>, Telling> told;

    void Apply(Time now, const Event& event);
    // As all stands at the end.
    std::shared_ptr<const Snapshot> End();
    std::vector<ToldIncident> Told(const Snapshot& end) const;
  };
  struct Progress {
    int32_t rank = INT32_MAX;
    uint64_t updates = 0;
    uint64_t in_vain = 0;  // in a row, the newest included
    int64_t since = 0;     // step of the first of them
  };

  void Count(const Event& event, const StepColumns& columns);

  const RulesInForce rules_;
  RulesInForce recorded_;
  Judge before_;
  Judge after_;
  std::map<RunKey, Progress> progress_;
  BacktestOutcome outcome_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_BACKTEST_H_
