#include "notify/webhook_queue.h"

#include <algorithm>

#include "model/limits.h"

namespace nanwatch {

bool WebhookQueue::Take(const Notice& notice) {
  const IncidentKey key = KeyOf(notice);
  const bool active = IsActive(notice, from_);
  const bool over = notice.resolved && !notice.incident.muted &&
                    notice.incident.worst >= from_;
  const bool muted = IsMuted(notice, from_) && told_.contains(key);
  const auto place = places_.find(key);
  if (!active && !over && !muted) {
    // Muted, or harmless by now: what was not said yet is not said any more.
    if (place != places_.end()) {
      waiting_.erase(place->second);
      places_.erase(place);
    }
    return true;
  }
  if (place != places_.end()) {
    waiting_[place->second] = notice;
    return true;
  }
  const bool room = waiting_.size() < limits::kNotices;
  if (!room) {
    places_.erase(KeyOf(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }
  places_[key] = next_place_;
  waiting_[next_place_++] = notice;
  return room;
}

const Notice* WebhookQueue::Due(Time now) const {
  if (waiting_.empty() || now < not_before_) return nullptr;
  return &waiting_.begin()->second;
}

void WebhookQueue::Adopt(const Notice& notice) {
  if (!IsActive(notice, from_)) return;
  if (told_.size() < limits::kNotices) told_.insert(KeyOf(notice));
}

void WebhookQueue::Sent() {
  const Notice& sent = waiting_.begin()->second;
  if (!IsActive(sent, from_)) {
    told_.erase(KeyOf(sent));
  } else {
    Adopt(sent);
  }
  places_.erase(KeyOf(waiting_.begin()->second));
  waiting_.erase(waiting_.begin());
  backoff_.Reset();
  not_before_ = Time{};
}

void WebhookQueue::Failed(Time now, std::optional<Duration> wait,
                          uint64_t random) {
  not_before_ =
      now + std::max(backoff_.Next(random), wait.value_or(Duration(0)));
}

std::optional<Time> WebhookQueue::NextDue() const {
  return waiting_.empty() ? std::nullopt : std::optional<Time>(not_before_);
}

}  // namespace nanwatch
