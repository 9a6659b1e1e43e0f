// UpstreamSide: what of a daemon has to do with the one that judges the whole
// job. Nothing, where none is named.

#ifndef NANWATCH_APP_UPSTREAM_SIDE_H_
#define NANWATCH_APP_UPSTREAM_SIDE_H_

#include <memory>
#include <vector>

#include "app/notice_gate.h"
#include "app/pipeline.h"
#include "base/clock.h"
#include "base/published.h"
#include "config/config.h"
#include "history/history.h"
#include "model/self_sample.h"
#include "model/snapshot.h"
#include "relay/relay.h"

namespace nanwatch {

class UpstreamSide {
 public:
  // `history` is null when it is off: then there is no upstream. Everything
  // must outlive Stop().
  void Start(const DaemonConfig& config, History* history, Pipeline& pipeline,
             NoticeGate& gate, Published<Snapshot>& published, Clock& clock);
  // Sends what is committed, for a second at most. After History::Close().
  void Stop();
  // Any thread, after Start().
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  std::unique_ptr<Relay> relay_;  // null: there is no upstream
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_UPSTREAM_SIDE_H_
