#include "history/event_copy.h"

#include <utility>

namespace nanwatch {

namespace {

constexpr size_t kEventsPerCommit = 1024;

}  // namespace

Status EventCopy::Add(StampedEvent event) {
  newest_ = event.id;
  waiting_.push_back(std::move(event));
  return waiting_.size() < kEventsPerCommit ? OkStatus() : Commit();
}

Status EventCopy::AddSent(std::vector<SentIncident> sent) {
  return writer_.Write({}, sent);
}

Status EventCopy::Finish() {
  if (Status s = Commit(); !s) return s;
  return writer_.SaveCatalog(Time{});
}

Status EventCopy::Commit() {
  std::vector<WriteItem> items;
  for (const StampedEvent& stamped : waiting_) {
    items.push_back({stamped.id, stamped.now, &stamped.event});
  }
  const Status written = writer_.Write(items, {});
  if (written) events_ += waiting_.size();
  waiting_.clear();
  return written;
}

}  // namespace nanwatch
