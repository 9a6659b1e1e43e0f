// A clock that was wrong is right again: the book forgets the future.

#include <algorithm>

#include "alert/incident_book.h"

namespace nanwatch {

bool IncidentBook::NotAfter(Time now) {
  bool changed = false;
  const auto clamp = [&](Time* time, Time most) {
    changed |= *time > most;
    *time = std::min(*time, most);
  };
  for (Track& track : tracks_) {
    clamp(&track.phase.since, now);
    clamp(&track.phase.due, now + policy_.hold);
  }
  for (Incident& incident : incidents_) {
    clamp(&incident.opened, now);
    clamp(&incident.fired, now);
    clamp(&incident.updated, now);
    if (incident.resolved) clamp(&*incident.resolved, now);
  }
  if (!changed) return false;
  renew_ = Time{};
  next_timer_ = now;  // found anew
  return true;
}

}  // namespace nanwatch
