#include "app/past_runs.h"

#include <string>
#include <utility>
#include <vector>

#include "app/replay.h"
#include "base/log.h"
#include "history/reader.h"

namespace nanwatch {
namespace {

// A run of a thousand ranks takes about a megabyte.
constexpr size_t kRemembered = 8;

}  // namespace

PastRuns::PastRuns(std::string history_path)
    : history_path_(std::move(history_path)) {}

Result<std::shared_ptr<const RunView>> PastRuns::Find(
    std::string_view run_id, std::optional<int32_t> attempt) {
  const Result<std::unique_ptr<HistoryReader>> reader =
      HistoryReader::Open(history_path_);
  if (!reader.ok()) return Error{reader.error()};
  const Result<std::vector<RunRow>> rows = (*reader)->Runs();
  if (!rows.ok()) return Error{rows.error()};
  const RunRow* row = FindRun(*rows, run_id, attempt);
  if (row == nullptr) return std::shared_ptr<const RunView>();
  MutexLock lock(mutex_);
  for (const auto& view : judged_) {
    if (view->key == row->key) return view;
  }
  Result<std::shared_ptr<const RunView>> view =
      ReplayRun(reader->get(), row->key);
  if (const uint64_t damaged = (*reader)->damaged_events(); damaged != 0) {
    LogWarning("history: a run was judged again without its damaged events",
               "run=" + row->key.run_id +
                   " attempt=" + std::to_string(row->key.attempt) +
                   " events=" + std::to_string(damaged));
  }
  // One that has not ended may come back and go on.
  if (view.ok() && *view != nullptr && (*view)->ended) {
    judged_.push_front(*view);
    if (judged_.size() > kRemembered) judged_.pop_back();
  }
  return view;
}

}  // namespace nanwatch
