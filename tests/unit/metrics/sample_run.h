// Views and expositions for tests.

#ifndef NANWATCH_TESTS_UNIT_METRICS_SAMPLE_RUN_H_
#define NANWATCH_TESTS_UNIT_METRICS_SAMPLE_RUN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metrics/exposition.h"
#include "metrics/render.h"

namespace nanwatch {

inline void SetValue(StepField field, double value, LatestValues* latest) {
  const int f = static_cast<int>(field);
  latest->last[f] = value;
  if (value - value == 0) {
    latest->last_finite[f] = value;
  } else {
    ++latest->nonfinite[f];
  }
}

inline RunView SampleRun(const std::string& id, int ranks = 0) {
  RunView run;
  run.key.run_id = id;
  run.description.world_size = ranks;
  run.opened = run.last_record = FromMicros(1700000000500000);
  run.totals.steps = 7;
  run.last_step = 6;
  for (int r = 0; r < ranks; ++r) {
    if (r % kRankBlock == 0) {
      run.ranks.push_back(std::make_shared<RankBlock>());
    }
    RankView rank;
    rank.description.rank = r;
    rank.totals.steps = 7;
    rank.last_step = r;
    SetValue(StepField::kLoss, r, &rank.latest);
    std::const_pointer_cast<RankBlock>(run.ranks.back())->push_back(rank);
  }
  return run;
}

inline std::shared_ptr<const Snapshot> SnapshotOf(std::vector<RunView> runs) {
  auto snapshot = std::make_shared<Snapshot>();
  size_t slot = 0;
  for (RunView& run : runs) {
    snapshot->runs.Set(slot++, std::make_shared<RunView>(std::move(run)));
  }
  return snapshot;
}

inline std::string Expose(std::vector<RunView> runs,
                          MetricsOptions options = {},
                          MetricsFormat format = MetricsFormat::kText004) {
  const auto snapshot = SnapshotOf(std::move(runs));
  const Exposition exposition(
      options, [&] { return snapshot; },
      [] { return std::vector<SelfSample>(); });
  std::string text;
  Render(format, exposition.Gather(), &text);
  return text;
}

inline int Count(const std::string& text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_METRICS_SAMPLE_RUN_H_
