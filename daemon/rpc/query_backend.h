// QueryBackend: what the query service reads and does, filled by app/.

#ifndef NANWATCH_RPC_QUERY_BACKEND_H_
#define NANWATCH_RPC_QUERY_BACKEND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/audit.h"
#include "model/event.h"
#include "model/snapshot.h"

namespace nanwatch {

// All functions may be called from any thread and, but for past_run and
// wait_until_stored, do not block.
struct QueryBackend {
  std::function<std::shared_ptr<const Snapshot>()> snapshot;
  // The history's database; empty: history is off.
  std::string history_path;
  // Until the history has all that the snapshot shows: a second at most. Not
  // set: history is off.
  std::function<void()> wait_until_stored;
  // A run that has left the snapshot, judged again from history; seconds for a
  // long one. Null: history knows none such. Not set: history is off.
  std::function<Result<std::shared_ptr<const RunView>>(std::string_view run_id,
                                                       std::optional<int32_t>)>
      past_run;
  // Posts the annotation as an event.
  std::function<Status(const RunKey&, const Annotation&, const Caller&)>
      annotate;
  // Posts the benchmark as an event.
  std::function<Status(const RunKey&, const BenchmarkSet&, const Caller&)>
      set_benchmark;
  // Hears of who was refused. Not set: nobody does.
  AuditSink audit;
  // Rules by number; "" and nullopt: no such rule.
  std::function<std::string(RuleId)> rule_name;
  std::function<std::optional<RuleId>(std::string_view)> rule_number;
  std::string daemon;  // name and version
  std::string page;    // where the web server shows runs; empty: nowhere
  Clock* clock = nullptr;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_QUERY_BACKEND_H_
