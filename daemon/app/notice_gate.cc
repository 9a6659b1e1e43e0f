#include "app/notice_gate.h"

#include <utility>

#include "model/limits.h"

namespace nanwatch {

void NoticeGate::Offer(const Notice& notice, bool told) {
  MutexLock lock(mutex_);
  if (told) return notifier_.Adopt(notice);
  if (!relays_) return notifier_.Offer(notice);
  if (open_) return Say(notice);
  const IncidentKey key = KeyOf(notice);
  held_.erase(key);
  if (!notice.resolved && held_.size() < limits::kNotices) {
    held_.emplace(key, notice);
  }
}

void NoticeGate::Adopt(const Notice& notice) {
  if (relays_) return Offer(notice, false);
  notifier_.Adopt(notice);
}

void NoticeGate::Say(const Notice& notice) {
  const IncidentKey key = KeyOf(notice);
  const bool fresh = !notice.resolved && !said_.contains(key);
  if (fresh && told_.size() < limits::kNotices) {
    told_.push_back({key.run, key.id});
  }
  notifier_.Offer(notice);
  if (notice.resolved) {
    said_.erase(key);
  } else {
    said_[key] = notice;
  }
}

void NoticeGate::Open(bool open) {
  MutexLock lock(mutex_);
  open_ = open;
  if (open) {
    for (const auto& [key, notice] : held_) Say(notice);
    held_.clear();
    return;
  }
  for (const auto& [key, notice] : said_) {
    notifier_.Release(notice);
    held_[key] = notice;
  }
  said_.clear();
}

std::vector<ToldMessage::Told> NoticeGate::TakeTold() {
  MutexLock lock(mutex_);
  return std::exchange(told_, {});
}

}  // namespace nanwatch
