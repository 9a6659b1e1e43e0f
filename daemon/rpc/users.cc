#include "rpc/users.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"

namespace nanwatch {
namespace {

// Users who are known without being here, 200 B each. Ours.
constexpr size_t kKnown = 4096;

size_t PlacesOf(Query kind) {
  switch (kind) {
    case Query::kCall:
      return limits::kCalls;
    case Query::kWatch:
      return limits::kWatchers;
    case Query::kExport:
      return limits::kExports;
  }
  return 0;
}

}  // namespace

User::User(uint64_t number, std::string name, const Quotas& quotas)
    : number_(number),
      name_(std::move(name)),
      quotas_(quotas),
      bytes_(quotas.bytes_per_second) {}

Quotas User::quotas() const {
  MutexLock lock(mutex_);
  return quotas_;
}

void User::SetQuotas(const Quotas& quotas) {
  MutexLock lock(mutex_);
  quotas_ = quotas;
  bytes_.SetRate(quotas.bytes_per_second);
}

Duration User::Spend(Duration passed, size_t bytes) {
  MutexLock lock(mutex_);
  return bytes_.Take(passed, static_cast<int64_t>(bytes));
}

bool User::OpenStream() {
  MutexLock lock(mutex_);
  if (streams_ >= quotas_.streams) return false;
  ++streams_;
  return true;
}

void User::CloseStream() {
  MutexLock lock(mutex_);
  --streams_;
}

bool User::Ask(Query kind) {
  const size_t most = QueriesMost(kind);
  MutexLock lock(mutex_);
  size_t& now = queries_[static_cast<size_t>(kind)];
  if (now >= most) return false;
  ++now;
  return true;
}

void User::Answered(Query kind) {
  MutexLock lock(mutex_);
  --queries_[static_cast<size_t>(kind)];
}

size_t User::QueriesMost(Query kind) const {
  MutexLock lock(mutex_);
  return std::min(quotas_.queries, limits::UserShare(PlacesOf(kind)));
}

std::shared_ptr<User> Users::Of(const std::string& name) {
  MutexLock lock(mutex_);
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kKnown) ForgetSomeLocked();
  auto user = std::make_shared<User>(++newest_, name, quotas_.Of(name));
  known_.emplace(name, user);
  return user;
}

void Users::ForgetSomeLocked() {
  std::erase_if(known_,
                [](const auto& one) { return one.second.use_count() == 1; });
}

void Users::Set(UserQuotas quotas) {
  MutexLock lock(mutex_);
  quotas_ = std::move(quotas);
  for (const auto& [name, user] : known_) user->SetQuotas(quotas_.Of(name));
}

}  // namespace nanwatch
