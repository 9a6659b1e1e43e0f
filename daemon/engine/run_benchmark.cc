// The benchmark that a run's losses are held against.

#include "engine/run_state.h"

namespace nanwatch {

void RunState::SetBenchmark(Time now, const BenchmarkSet& set,
                            Effects* effects) {
  dirty_ = true;
  bench_.Set(set.benchmark);
  for (const FindingKey& key : board_.Keys()) {
    if (key.list == FindingKey::List::kBench) Remove(key);
  }
  if (effects != nullptr) JudgeIfChanged(now, last_step_, effects);
}

// That of the lowest rank: a benchmark's losses are of one, too.
void RunState::JudgeBenchmark(const RankState& rank, const StepRecord& record) {
  if (&rank != Lowest() || rank.tracks.size() != 1) return;
  const double begun = loss_before_ ? loss_before_->first : 0;
  const std::optional<BenchContext> pair = bench_.Pair(record, begun);
  if (!pair) return;
  bench_.rules().On(*pair, shared_->tables->bench(), [&](size_t i, Severity) {
    Changed(
        {FindingKey::List::kBench, rank.description.rank, 0,
         static_cast<uint32_t>(i)},
        bench_.rules(),
        Blank(SubjectOf(rank, rank.tracks.front()), record.step, record.time));
  });
}

}  // namespace nanwatch
