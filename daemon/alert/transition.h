// The alert state machine of one incident, as a pure function. Pending, firing,
// resolved; nothing resolves that never fired, and what fires stays for the
// hold.

#ifndef NANWATCH_ALERT_TRANSITION_H_
#define NANWATCH_ALERT_TRANSITION_H_

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/engine_options.h"
#include "model/incident.h"

namespace nanwatch {

struct AlertPhase {
  AlertState state = AlertState::kPending;
  bool present = true;  // its findings are there
  bool fired_once = false;
  Time since{};  // in this state
  Time due{};    // pending: may fire then; firing: may resolve then
  int32_t reopened = 0;
};
template <typename A>
void Fields(A& a, AlertPhase& p) {
  a(p.state, p.present, p.fired_once, p.since, p.due, p.reopened);
}

enum class AlertChange : uint8_t {
  kNone,
  kFired,     // for the first time
  kReopened,  // fired again
  kResolved,
  kForgotten,  // was pending and never fired: as if it had never been
};

// Returns a new incident's: pending, and due to fire at once.
AlertPhase NewPhase(Time now);

// Moves on at `now`, with the findings `present` or not. Never call it for a
// phase that was forgotten. REQUIRES: now never falls.
AlertChange Move(const AlertPolicy& policy, Time now, bool present,
                 AlertPhase* phase);

// Returns when Move would do something with nothing else changed.
std::optional<Time> NextTimer(const AlertPhase& phase);

// True when an incident that comes back at `now` is still the same one.
bool MayReopen(const AlertPolicy& policy, Time now, const AlertPhase& phase);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_TRANSITION_H_
