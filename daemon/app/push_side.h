// PushSide: what of a daemon sends each step to stores of metrics. Nothing,
// where none is named.

#ifndef NANWATCH_APP_PUSH_SIDE_H_
#define NANWATCH_APP_PUSH_SIDE_H_

#include <memory>
#include <vector>

#include "base/clock.h"
#include "config/config.h"
#include "history/history.h"
#include "model/self_sample.h"
#include "push/incident_queue.h"
#include "push/pusher.h"

namespace nanwatch {

class PushSide {
 public:
  // `history` is null when it is off: then nothing is sent. Everything must
  // outlive Stop().
  void Start(const DaemonConfig& config, History* history, Clock& clock);
  // Sends what is committed, for half a second at most. After
  // History::Close().
  void Stop();
  // News of an incident. Any thread.
  void Offer(const Notice& notice) { incidents_.Offer(notice); }
  // Any thread, after Start().
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  IncidentQueue incidents_;
  std::vector<std::unique_ptr<Pusher>> pushers_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_PUSH_SIDE_H_
