#include "web/reply_cache.h"

namespace nanwatch {
namespace {

// Beyond, all are forgotten: they are of the last second anyway.
constexpr size_t kEntries = 32;
// A larger reply is not kept.
constexpr size_t kKeptReply = 1 << 20;

}  // namespace

std::shared_ptr<ReplyCache::Entry> ReplyCache::Find(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  if (entries_.size() >= kEntries) entries_.clear();
  return entries_.emplace(key, std::make_shared<Entry>()).first->second;
}

HttpReply ReplyCache::Get(const std::string& key, Time now, Duration max_age,
                          const std::function<HttpReply()>& make) {
  const std::shared_ptr<Entry> entry = Find(key);
  MutexLock lock(entry->mutex);
  // Of who waited here for another, it was made after `now`.
  if (entry->made && now - entry->at <= max_age && entry->at - now <= max_age) {
    return entry->reply;
  }
  entry->made = false;
  HttpReply reply = make();
  if (reply.status == 200 && reply.body.size() <= kKeptReply) {
    entry->reply = reply;
    entry->at = now;
    entry->made = true;
  }
  return reply;
}

}  // namespace nanwatch
