#include "notify/alert_table.h"

#include <algorithm>

#include "model/limits.h"

namespace nanwatch {
namespace {

// Prometheus' rule: an alert lives through two resends that fail.
constexpr int kResendsUntilItEnds = 4;

Time ResolvedAt(const Notice& notice, Time now) {
  return notice.incident.resolved.value_or(now);
}

}  // namespace

IncidentKey KeyOf(const Notice& notice) {
  return {notice.run, notice.incident.id};
}

bool AlertTable::Take(Time now, const Notice& notice) {
  const IncidentKey key = KeyOf(notice);
  const AlertLabels labels = LabelsOf(notice);
  if (!IsActive(notice, options_.from)) {
    const bool known = attached_.contains(key);
    Detach(key, ResolvedAt(notice, now), &notice);
    // Said by an earlier daemon, which ended before it could take it back.
    const bool over = notice.resolved && !notice.incident.muted &&
                      notice.incident.severity >= options_.from;
    if (known || !over || alerts_.contains(labels)) return true;
    if (alerts_.size() >= limits::kNotices) return false;
    Entry& entry = alerts_[labels];
    entry.shown = notice;
    entry.resolved = ResolvedAt(notice, now);
    entry.settled = notice.incident.fired;
    return true;
  }
  const auto attached = attached_.find(key);
  if (attached != attached_.end() && attached->second != labels) {
    Detach(key, now, nullptr);
  }
  const bool fresh = !alerts_.contains(labels);
  if (fresh && alerts_.size() >= limits::kNotices) return false;
  Entry& entry = alerts_[labels];
  if (fresh) entry.settles = now + options_.settle;
  if (entry.resolved) {  // fires again
    entry.resolved.reset();
    entry.settled.reset();
    entry.muted = false;
  }
  entry.incidents[key] = notice;
  entry.shown = entry.incidents.begin()->second;
  for (const auto& [other, shown] : entry.incidents) {
    if (shown.incident.fired < entry.shown.incident.fired) entry.shown = shown;
  }
  entry.news = true;
  attached_[key] = labels;
  return true;
}

AlertTable::Alerts::iterator AlertTable::TakeOut(const IncidentKey& key) {
  const auto found = attached_.find(key);
  if (found == attached_.end()) return alerts_.end();
  const auto place = alerts_.find(found->second);
  attached_.erase(found);
  Entry& entry = place->second;
  entry.incidents.erase(key);
  if (!entry.incidents.empty()) entry.shown = entry.incidents.begin()->second;
  return place;
}

void AlertTable::Detach(const IncidentKey& key, Time when, const Notice* last) {
  const auto place = TakeOut(key);
  if (place == alerts_.end()) return;
  Entry& entry = place->second;
  entry.news = true;
  if (!entry.incidents.empty()) return;
  entry.resolved = when;
  if (last != nullptr) {
    entry.shown = *last;
    entry.muted = IsMuted(*last, options_.from);
  }
  // Nobody has heard of it, and nobody needs to: it is another alert now, or
  // was muted.
  const bool pointless = last == nullptr || entry.muted;
  if (pointless && !entry.last_sent) alerts_.erase(place);
}

void AlertTable::Release(const IncidentKey& key) {
  const auto place = TakeOut(key);
  if (place == alerts_.end()) return;
  if (place->second.incidents.empty()) alerts_.erase(place);
}

std::optional<Time> AlertTable::SaysResolvedFrom(const Entry& entry) const {
  if (!entry.resolved) return std::nullopt;
  if (entry.muted) return entry.resolved;
  if (!entry.settled) return std::nullopt;
  return std::max(*entry.resolved, *entry.settled + options_.hold);
}

Time AlertTable::DueAt(const Entry& entry) const {
  if (!entry.last_sent) return entry.settles;
  const Time resend = *entry.last_sent + options_.alertmanager.resend;
  const std::optional<Time> over = SaysResolvedFrom(entry);
  if (!over) return entry.news ? Time{} : resend;
  // Still said to be firing: nothing new until the hold is over.
  if (*entry.last_sent < *over) return std::min(*over, resend);
  return resend;
}

std::vector<Alert> AlertTable::Due(Time now, size_t most) {
  Forget(now);
  std::vector<Alert> due;
  for (const auto& [labels, entry] : alerts_) {
    if (due.size() == most) break;
    if (DueAt(entry) > now) continue;
    Alert alert;
    alert.labels = labels;
    alert.shown = entry.shown;
    alert.incidents = std::max<size_t>(1, entry.incidents.size());
    alert.starts = entry.shown.incident.fired;
    const std::optional<Time> over = SaysResolvedFrom(entry);
    alert.ends = over && *over <= now
                     ? *over
                     : now + kResendsUntilItEnds * options_.alertmanager.resend;
    due.push_back(std::move(alert));
  }
  return due;
}

void AlertTable::Settle(Time now, std::span<const Alert> sent) {
  for (const Alert& alert : sent) {
    const auto found = alerts_.find(alert.labels);
    if (found == alerts_.end()) continue;
    Entry& entry = found->second;
    entry.last_sent = now;
    entry.news = false;
    if (!entry.settled) entry.settled = now;
  }
}

// What was said to be over for long enough; or is over for so long, without
// anybody having heard of it, that nobody needs to.
void AlertTable::Forget(Time now) {
  std::erase_if(alerts_, [&](const auto& item) {
    const Entry& entry = item.second;
    if (!entry.resolved) return false;
    const Time over = SaysResolvedFrom(entry).value_or(*entry.resolved);
    return now - over > options_.say_resolved_for;
  });
}

void AlertTable::Hurry() {
  for (auto& [labels, entry] : alerts_) entry.settles = Time{};
}

std::optional<Time> AlertTable::NextDue() const {
  std::optional<Time> next;
  for (const auto& [labels, entry] : alerts_) {
    const Time due = DueAt(entry);
    if (!next || due < *next) next = due;
  }
  return next;
}

size_t AlertTable::unsent() const {
  return static_cast<size_t>(
      std::count_if(alerts_.begin(), alerts_.end(), [](const auto& item) {
        return item.second.news || !item.second.last_sent;
      }));
}

}  // namespace nanwatch
