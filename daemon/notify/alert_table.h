// AlertTable: which alerts Alertmanager is to be told, and when. No I/O: it
// takes notices and answers in, and gives what is due out.
//
// Incidents of a run with the same labels are one alert, which resolves with
// the last of them. An incident whose severity changes moves to another alert.
// One that is muted leaves its alert, which so resolves at once: the person who
// mutes has seen it, and there is nothing to hold. Unmuted, it fires again.
// A new alert settles before it is sent; if its incident moved on to another
// one meanwhile, nobody hears of it.

#ifndef NANWATCH_NOTIFY_ALERT_TABLE_H_
#define NANWATCH_NOTIFY_ALERT_TABLE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "model/incident.h"
#include "notify/alert.h"
#include "notify/options.h"

namespace nanwatch {

// The incident that a notice is about.
struct IncidentKey {
  RunKey run;
  uint64_t id = 0;
  auto operator<=>(const IncidentKey&) const = default;
};
IncidentKey KeyOf(const Notice& notice);

class AlertTable {
 public:
  // `options` must outlive this.
  explicit AlertTable(const NotifyOptions& options) : options_(options) {}

  // False: the table is full (limits::kNotices) and the notice is dropped.
  bool Take(Time now, const Notice& notice);
  // Nothing more is said of the incident, as if it had never been taken.
  void Release(const IncidentKey& key);
  // At most `most` alerts to be sent at `now`, resolved ones included.
  std::vector<Alert> Due(Time now, size_t most);
  // They were accepted, or rejected for ever: nothing more until the next
  // resend.
  void Settle(Time now, std::span<const Alert> sent);
  // Nothing is to settle any more: these are the last words.
  void Hurry();
  // When Due gives something next.
  std::optional<Time> NextDue() const;

  size_t size() const { return alerts_.size(); }
  // Alerts that were never sent or have news.
  size_t unsent() const;

 private:
  struct Entry {
    std::map<IncidentKey, Notice> incidents;  // active ones
    Notice shown;  // the first of them; the last one when all have resolved
    std::optional<Time> resolved;  // since when none is active
    std::optional<Time> settled;   // since when it is known to be firing there
    std::optional<Time> last_sent;
    Time settles{};  // not sent before, the first time
    bool news = true;
    bool muted = false;  // so it was resolved
  };

  using Alerts = std::map<AlertLabels, Entry>;

  // Takes the incident from the alert that it belongs to, and returns that; the
  // end: it belongs to none. The alert may have no incident left.
  Alerts::iterator TakeOut(const IncidentKey& key);
  // The same; an alert that has no incident left is resolved since `when`.
  // `last`: what is known of the incident now, if that is why.
  void Detach(const IncidentKey& key, Time when, const Notice* last);
  // When Alertmanager may hear that it is over; nullopt: not yet known.
  std::optional<Time> SaysResolvedFrom(const Entry& entry) const;
  Time DueAt(const Entry& entry) const;
  void Forget(Time now);

  const NotifyOptions& options_;
  Alerts alerts_;
  std::map<IncidentKey, AlertLabels> attached_;
};

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_ALERT_TABLE_H_
