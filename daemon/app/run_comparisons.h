// RunComparisons: two runs of the history side by side, for who asks over HTTP.

#ifndef NANWATCH_APP_RUN_COMPARISONS_H_
#define NANWATCH_APP_RUN_COMPARISONS_H_

#include <atomic>
#include <string>

#include "model/run.h"
#include "web/backend.h"

namespace nanwatch {

class RunComparisons {
 public:
  explicit RunComparisons(std::string history_path);

  // Reads both from disk and compares them, one pair at a time: so it takes one
  // of the places of HTTP's requests at most. Another pair is refused
  // meanwhile, and so are runs that are longer than model/limits.h has it. Any
  // thread.
  ComparisonReply Compare(const RunKey& a, const RunKey& b);

 private:
  // Constant after construction.
  const std::string history_path_;

  std::atomic_flag busy_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_RUN_COMPARISONS_H_
