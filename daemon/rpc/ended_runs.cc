#include "rpc/ended_runs.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "history/worst_sent.h"
#include "model/health.h"

namespace nanwatch {
namespace {

void WriteRow(const RunRow& row, Severity worst, v1::RunSummary* to) {
  to->set_run_id(row.key.run_id);
  to->set_attempt(row.key.attempt);
  to->set_job(row.description.job);
  to->set_owner(row.description.owner);
  to->set_state(row.ended ? v1::LIFE_STATE_CLOSED : v1::LIFE_STATE_LOST);
  to->set_end_reason(row.end_reason);
  to->set_worst(static_cast<v1::Severity>(worst));
  Health health = HealthOfEnded(worst);
  to->set_health(std::move(health.words));
  to->set_health_severity(static_cast<v1::Severity>(health.severity));
  if (!row.ended) to->set_severity(to->worst());
  to->set_headline(fmt::format("Ended; `nanwatch diagnose {}` says how it was.",
                               row.key.run_id));
  to->set_opened_us(ToMicros(row.opened));
  to->set_last_record_us(ToMicros(row.ended.value_or(row.opened)));
  if (row.ended) to->set_ended_us(ToMicros(*row.ended));
  to->set_last_step(row.last_step);
  to->set_world_size(row.description.world_size);
  to->set_framework(row.description.framework);
  to->set_precision(row.description.precision);
}

}  // namespace

Status AppendEndedRuns(HistoryReader& reader, const Snapshot& snapshot,
                       v1::ListRunsResponse* response) {
  const Result<std::vector<RunRow>> rows = reader.Runs();
  if (!rows) return Error{rows.error()};
  const Result<std::map<RunKey, Severity>> worst = WorstSent(reader);
  if (!worst) return Error{worst.error()};
  std::set<RunKey> shown;
  snapshot.runs.ForEach([&](const RunView& run) { shown.insert(run.key); });
  int listed = 0;
  for (auto row = rows->rbegin(); row != rows->rend(); ++row) {
    if (shown.count(row->key) > 0) continue;
    if (listed++ == kEndedRunsListed) break;
    const auto found = worst->find(row->key);
    WriteRow(*row, found == worst->end() ? Severity::kNone : found->second,
             response->add_runs());
  }
  return OkStatus();
}

}  // namespace nanwatch
