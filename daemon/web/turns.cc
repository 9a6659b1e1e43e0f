#include "web/turns.h"

#include <algorithm>
#include <tuple>

#include "model/limits.h"

namespace nanwatch {

bool Turns::Before(const User& one, const User& other) {
  return std::tie(one.served, one.last) < std::tie(other.served, other.last);
}

size_t Turns::MostOf(const Asker& asker) const {
  return std::min(asker.most, limits::UserShare(places_));
}

bool Turns::Take(const Asker& asker) NANWATCH_TS(no_thread_safety_analysis) {
  std::unique_lock<std::mutex> lock(mutex_.native());
  User& user = users_[asker.name];
  if (user.here >= here_) return false;
  ++user.here;
  Waiting waiting{&user, MostOf(asker)};
  waiting_.push_back(&waiting);
  ServeLocked();
  waiting.served_changed.wait(lock, [&] { return waiting.served; });
  return true;
}

bool Turns::TryTake(const Asker& asker) {
  MutexLock lock(mutex_);
  const auto known = users_.find(asker.name);
  const size_t his = known == users_.end() ? 0 : known->second.served;
  if (served_ >= places_ || his >= MostOf(asker)) return false;
  User& user = users_[asker.name];
  ++user.here;
  ServeLocked(user);
  return true;
}

size_t Turns::waiting() {
  MutexLock lock(mutex_);
  return waiting_.size();
}

void Turns::End(const std::string& user) {
  MutexLock lock(mutex_);
  const auto known = users_.find(user);
  --known->second.served;
  if (--known->second.here == 0) users_.erase(known);
  --served_;
  ServeLocked();
}

void Turns::ServeLocked(User& user) {
  ++user.served;
  ++served_;
  user.last = ++last_;
}

void Turns::ServeLocked() {
  while (served_ < places_) {
    auto next = waiting_.end();
    for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
      const User& user = *(*one)->user;
      if (user.served >= (*one)->most) continue;
      if (next == waiting_.end() || Before(user, *(*next)->user)) next = one;
    }
    if (next == waiting_.end()) return;
    Waiting& served = **next;
    waiting_.erase(next);
    ServeLocked(*served.user);
    served.served = true;
    served.served_changed.notify_one();
  }
}

}  // namespace nanwatch
