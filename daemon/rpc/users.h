// Users: who has streams or asks, and what each has of the daemon at once.

#ifndef NANWATCH_RPC_USERS_H_
#define NANWATCH_RPC_USERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/time.h"
#include "model/quotas.h"
#include "rpc/quota.h"

namespace nanwatch {

// What is asked for by a call that lasts differently.
enum class Query { kCall, kWatch, kExport };
inline constexpr size_t kQueries = 3;

// Any thread.
class User {
 public:
  User(uint64_t number, std::string name, const Quotas& quotas);

  uint64_t number() const { return number_; }
  const std::string& name() const { return name_; }
  Quotas quotas() const;
  void SetQuotas(const Quotas& quotas);

  // Counts what came of his. Returns for how long no more should be read.
  Duration Spend(Duration passed, size_t bytes);
  // False: he has as many as he may.
  bool OpenStream();
  void CloseStream();
  bool Ask(Query kind);
  void Answered(Query kind);
  // Of a kind, at once.
  size_t QueriesMost(Query kind) const;

 private:
  const uint64_t number_;
  const std::string name_;

  mutable Mutex mutex_;
  Quotas quotas_ GUARDED_BY(mutex_);
  Quota bytes_ GUARDED_BY(mutex_);
  size_t streams_ GUARDED_BY(mutex_) = 0;
  std::array<size_t, kQueries> queries_ GUARDED_BY(mutex_){};
};

// Any thread.
class Users {
 public:
  explicit Users(UserQuotas quotas) : quotas_(std::move(quotas)) {}

  // Empty: callers without a name. The same one as long as somebody holds it,
  // and some time after.
  std::shared_ptr<User> Of(const std::string& name);
  // Holds from now on, for who is there, too.
  void Set(UserQuotas quotas);

 private:
  void ForgetSomeLocked() REQUIRES_LOCK(mutex_);

  Mutex mutex_;
  UserQuotas quotas_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<User>> known_ GUARDED_BY(mutex_);
  uint64_t newest_ GUARDED_BY(mutex_) = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_USERS_H_
