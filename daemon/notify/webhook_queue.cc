#include "notify/webhook_queue.h"

#include <algorithm>

#include "model/limits.h"

namespace nanwatch {

WebhookQueue::Told WebhookQueue::WhatIsTold(const Notice& notice) {
  return {notice.incident.severity,
          notice.incident.cause != Cause::kUnexplained};
}

// Of one that fires: it was not told of, or what people go by is another. A
// better name of where it began is on the page.
bool WebhookQueue::IsNews(const Notice& notice) const {
  const auto found = told_.find(KeyOf(notice));
  if (found == told_.end()) return true;
  const Told now = WhatIsTold(notice);
  return now.severity != found->second.severity ||
         (now.explained && !found->second.explained);
}

bool WebhookQueue::Take(Time now, const Notice& notice) {
  const IncidentKey key = KeyOf(notice);
  const bool active = IsActive(notice, from_);
  const bool over = notice.resolved && !notice.incident.muted &&
                    notice.incident.worst >= from_;
  const bool muted = IsMuted(notice, from_) && told_.contains(key);
  const auto place = places_.find(key);
  if (!(active && IsNews(notice)) && !over && !muted) {
    // Muted, or harmless by now, or as it was told: what was not said yet is
    // not said any more.
    if (place != places_.end()) {
      waiting_.erase(place->second);
      places_.erase(place);
    }
    return true;
  }
  if (place != places_.end()) {
    Waiting& waiting = waiting_[place->second];
    const bool unheard = over && now < waiting.settles;
    if (!unheard) {
      waiting.notice = notice;
      return true;
    }
    // Over before it settled, as when a training dies of it: who acts on what
    // fires shall hear of it, and then of its end.
    waiting.settles = now;
  }
  const bool room = waiting_.size() < limits::kNotices;
  if (!room) DropFirst();
  places_[key] = next_place_;
  waiting_[next_place_++] = {notice, active ? now + settle_ : now};
  return room;
}

const Notice* WebhookQueue::Due(Time now) const {
  const std::optional<Time> due = NextDue();
  if (!due || now < *due) return nullptr;
  return &waiting_.begin()->second.notice;
}

void WebhookQueue::Adopt(const Notice& notice) {
  if (!IsActive(notice, from_)) return;
  if (told_.size() < limits::kNotices || told_.contains(KeyOf(notice))) {
    told_[KeyOf(notice)] = WhatIsTold(notice);
  }
}

void WebhookQueue::Release(const IncidentKey& key) {
  told_.erase(key);
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  waiting_.erase(place->second);
  places_.erase(place);
}

void WebhookQueue::Sent() {
  const Notice& sent = waiting_.begin()->second.notice;
  if (!IsActive(sent, from_)) {
    told_.erase(KeyOf(sent));
  } else {
    Adopt(sent);
  }
  DropFirst();
  backoff_.Reset();
  not_before_ = Time{};
}

void WebhookQueue::DropFirst() {
  const auto first = waiting_.begin();
  const auto place = places_.find(KeyOf(first->second.notice));
  // Its incident may have a newer one behind it.
  if (place->second == first->first) places_.erase(place);
  waiting_.erase(first);
}

void WebhookQueue::Failed(Time now, std::optional<Duration> wait,
                          uint64_t random) {
  not_before_ =
      now + std::max(backoff_.Next(random), wait.value_or(Duration(0)));
}

void WebhookQueue::Hurry() {
  not_before_ = Time{};
  for (auto& [place, waiting] : waiting_) waiting.settles = Time{};
}

// In their order: what is over waits behind what settles, a second at most.
std::optional<Time> WebhookQueue::NextDue() const {
  if (waiting_.empty()) return std::nullopt;
  return std::max(not_before_, waiting_.begin()->second.settles);
}

}  // namespace nanwatch
