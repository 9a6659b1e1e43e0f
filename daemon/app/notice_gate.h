// NoticeGate: whether people hear of trouble from this daemon. One that has an
// upstream is silent while that holds its records, and speaks when it is alone.
// Without an upstream everything passes.

#ifndef NANWATCH_APP_NOTICE_GATE_H_
#define NANWATCH_APP_NOTICE_GATE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "model/client_message.h"
#include "model/incident.h"
#include "notify/notifier.h"

namespace nanwatch {

class NoticeGate {
 public:
  // `notifier` must outlive this.
  NoticeGate(Notifier& notifier, bool open)
      : notifier_(notifier), open_(open), relays_(!open) {}

  // All of any thread. `told`: people know of it, from a relay.
  void Offer(const Notice& notice, bool told);
  // What fires since before this daemon began.
  void Adopt(const Notice& notice);
  // True: what fires is said. False: the upstream goes on with it.
  void Open(bool open);
  // Of what was said since the last call; empty where nothing was.
  std::vector<ToldMessage::Told> TakeTold();

 private:
  void Say(const Notice& notice) REQUIRES_LOCK(mutex_);

  Notifier& notifier_;
  Mutex mutex_;
  bool open_ GUARDED_BY(mutex_);
  const bool relays_;
  // Firing, and not said; at most limits::kNotices.
  std::map<IncidentKey, Notice> held_ GUARDED_BY(mutex_);
  std::map<IncidentKey, Notice> said_ GUARDED_BY(mutex_);
  std::vector<ToldMessage::Told> told_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_NOTICE_GATE_H_
