// EventFeed: when to tell a page that what it shows has changed. It is told
// that, not what: it asks for what it shows, and replies are shared.

#ifndef NANWATCH_WEB_EVENT_FEED_H_
#define NANWATCH_WEB_EVENT_FEED_H_

#include <memory>
#include <string>
#include <utility>

#include "base/time.h"
#include "model/snapshot.h"
#include "web/http.h"

namespace nanwatch {

class EventFeed {
 public:
  explicit EventFeed(EventQuery query) : query_(std::move(query)) {}

  // What to send now, as text/event-stream; empty: nothing. A change is told at
  // most once a second; a comment every three seconds of silence finds out who
  // has hung up.
  std::string Next(const std::shared_ptr<const Snapshot>& snapshot, Time now);

 private:
  bool Changed(const std::shared_ptr<const Snapshot>& snapshot);

  const EventQuery query_;
  // Kept, so that another one has another address.
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const RunView> run_;
  bool begun_ = false;
  bool due_ = false;
  Time told_{};
  Time sent_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_EVENT_FEED_H_
