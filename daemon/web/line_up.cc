#include "web/line_up.h"

#include <utility>

#include "web/loopback.h"

namespace nanwatch {

bool LineUp::Add(Accepted accepted) NANWATCH_TS(no_thread_safety_analysis) {
  {
    std::unique_lock<std::mutex> lock(mutex_.native());
    while (!closed_ && waiting_.size() >= waiting_most_) changed_.wait(lock);
    if (closed_) return false;
    size_t& count = of_host_[accepted.host];
    if (count >= of_host_most_ && !IsLoopback(accepted.host)) return false;
    ++count;
    waiting_.push_back(std::move(accepted));
  }
  changed_.notify_all();
  return true;
}

std::optional<Accepted> LineUp::Take() NANWATCH_TS(no_thread_safety_analysis) {
  std::optional<Accepted> taken;
  {
    std::unique_lock<std::mutex> lock(mutex_.native());
    while (!closed_ && waiting_.empty()) changed_.wait(lock);
    if (closed_) return std::nullopt;
    taken = std::move(waiting_.front());
    waiting_.pop_front();
  }
  changed_.notify_all();
  return taken;
}

void LineUp::Leave(const std::string& host) {
  MutexLock lock(mutex_);
  const auto found = of_host_.find(host);
  if (found != of_host_.end() && --found->second == 0) of_host_.erase(found);
}

std::deque<Accepted> LineUp::Close() {
  std::deque<Accepted> left;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    left.swap(waiting_);
  }
  changed_.notify_all();
  return left;
}

}  // namespace nanwatch
