// WebhookQueue: what one webhook is still to be told. Newest per incident wins;
// no I/O.

#ifndef NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_
#define NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/backoff.h"
#include "base/time.h"
#include "notify/alert_table.h"
#include "notify/options.h"

namespace nanwatch {

class WebhookQueue {
 public:
  explicit WebhookQueue(Severity from) : from_(from) {}

  // False: full (limits::kNotices); the oldest was dropped for it.
  bool Take(const Notice& notice);
  // It fires, and an earlier daemon said so.
  void Adopt(const Notice& notice);
  // The one to send at `now`; null: none, or it is too early after a failure.
  const Notice* Due(Time now) const;
  // What became of the one that Due gave. `wait`: the server's own wish.
  void Sent();
  void Failed(Time now, std::optional<Duration> wait, uint64_t random);

  // Nothing is too early any more: these are the last words.
  void Hurry() { not_before_ = Time{}; }

  std::optional<Time> NextDue() const;
  size_t size() const { return waiting_.size(); }

 private:
  const Severity from_;
  // By place, in the order of first arrival.
  std::map<uint64_t, Notice> waiting_;
  std::map<IncidentKey, uint64_t> places_;
  uint64_t next_place_ = 1;
  // Firing, as far as the webhook heard; at most limits::kNotices. Only these
  // are worth a word when they are muted.
  std::set<IncidentKey> told_;
  Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(1)};
  Time not_before_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_
