// EventCopy: events from a reader into a file, in transactions of a bounded
// size, with their ids.

#ifndef NANWATCH_HISTORY_EVENT_COPY_H_
#define NANWATCH_HISTORY_EVENT_COPY_H_

#include <cstdint>
#include <vector>

#include "history/event_writer.h"

namespace nanwatch {

class EventCopy {
 public:
  // `into` is an empty history and must outlive this.
  explicit EventCopy(Database& into) : writer_(into, catalog_) {}

  Status Add(StampedEvent event);
  Status AddSent(std::vector<SentIncident> sent);
  // Writes the rest.
  Status Finish();
  uint64_t events() const { return events_; }
  uint64_t newest() const { return newest_; }

 private:
  Status Commit();

  RunCatalog catalog_;
  EventWriter writer_;
  std::vector<StampedEvent> waiting_;
  uint64_t events_ = 0;
  uint64_t newest_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_EVENT_COPY_H_
