// PastRuns: runs that have left the engine, judged again from history when
// somebody asks, from the newest checkpoint that this build can use.

#ifndef NANWATCH_APP_PAST_RUNS_H_
#define NANWATCH_APP_PAST_RUNS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "model/snapshot.h"

namespace nanwatch {

class PastRuns {
 public:
  explicit PastRuns(std::string history_path);

  // `attempt` absent: the newest. Null: history knows none such. Reads from
  // disk, one at a time; those that were asked for last are remembered. Any
  // thread.
  Result<std::shared_ptr<const RunView>> Find(std::string_view run_id,
                                              std::optional<int32_t> attempt);

 private:
  // Constant after construction.
  const std::string history_path_;

  // Held while a run is judged: two at once would take twice the memory.
  Mutex mutex_;
  std::deque<std::shared_ptr<const RunView>> judged_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_PAST_RUNS_H_
