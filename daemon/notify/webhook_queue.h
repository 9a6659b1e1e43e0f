// WebhookQueue: what one webhook is still to be told. Newest per incident wins,
// and a new one settles first; no I/O.

#ifndef NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_
#define NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>

#include "base/backoff.h"
#include "base/time.h"
#include "notify/alert_table.h"
#include "notify/options.h"

namespace nanwatch {

class WebhookQueue {
 public:
  // Tells from severity `from` on, and of what is new `settle` after it came.
  WebhookQueue(Severity from, Duration settle) : from_(from), settle_(settle) {}

  // False: full (limits::kNotices); the oldest was dropped for it.
  bool Take(Time now, const Notice& notice);
  // It fires, and an earlier daemon said so.
  void Adopt(const Notice& notice);
  // Nothing more is said of the incident.
  void Release(const IncidentKey& key);
  // The one to send at `now`; null: none, or it is too early: after a failure,
  // or as it settles.
  const Notice* Due(Time now) const;
  // What became of the one that Due gave. `wait`: the server's own wish.
  void Sent();
  void Failed(Time now, std::optional<Duration> wait, uint64_t random);

  // Nothing is too early any more: these are the last words.
  void Hurry();

  std::optional<Time> NextDue() const;
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Notice notice;
    Time settles{};
  };
  // What it heard last of one that fires.
  struct Told {
    Severity severity = Severity::kNone;
    bool explained = false;
  };
  static Told WhatIsTold(const Notice& notice);
  bool IsNews(const Notice& notice) const;
  void DropFirst();

  const Severity from_;
  const Duration settle_;
  // By place, in the order of first arrival.
  std::map<uint64_t, Waiting> waiting_;
  std::map<IncidentKey, uint64_t> places_;
  uint64_t next_place_ = 1;
  // Firing, as far as the webhook heard; at most limits::kNotices. Only these
  // are worth a word when they are muted.
  std::map<IncidentKey, Told> told_;
  Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(1)};
  Time not_before_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_WEBHOOK_QUEUE_H_
