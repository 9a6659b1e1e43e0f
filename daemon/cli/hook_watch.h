// HookWatch: the incidents of runs that a program tells the daemon of itself,
// while it runs, and the verdict when it ended.

#ifndef NANWATCH_CLI_HOOK_WATCH_H_
#define NANWATCH_CLI_HOOK_WATCH_H_

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "cli/announced.h"
#include "cli/tail_voice.h"
#include "rpc/query_client.h"

namespace nanwatch {

class HookWatch {
 public:
  // `address`: the daemon's. All must outlive this. One thread.
  HookWatch(const std::string& address, const Announced* announced,
            TailVoice* voice);

  // Says what began since it was called last. Once a second it asks the
  // daemon; other calls cost nothing. From the first announcement on `voice`
  // is quiet of what the log alone makes of the training.
  void Look();

  // The daemon's report on a run; waits a moment for it to end. Empty: the
  // daemon does not answer, or knows no step of it.
  std::string Report(const std::string& run);

 private:
  QueryClient client_;
  const Announced* const announced_;
  TailVoice* const voice_;
  std::chrono::steady_clock::time_point next_;
  std::set<std::pair<uint64_t, int>> told_;  // incident, severity
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_HOOK_WATCH_H_
