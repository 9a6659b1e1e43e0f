#include "alert/transition.h"

namespace nanwatch {
namespace {

AlertChange Fire(const AlertPolicy& policy, Time now, AlertPhase* phase) {
  const bool again = phase->fired_once;
  phase->state = AlertState::kFiring;
  phase->fired_once = true;
  phase->since = now;
  phase->due = now + policy.hold;
  return again ? AlertChange::kReopened : AlertChange::kFired;
}

AlertChange MovePending(const AlertPolicy& policy, Time now,
                        AlertPhase* phase) {
  if (phase->present) {
    return now >= phase->due ? Fire(policy, now, phase) : AlertChange::kNone;
  }
  if (!phase->fired_once) return AlertChange::kForgotten;
  // A flap that did not last. The world was told that it is resolved, and that
  // is still so.
  phase->state = AlertState::kResolved;
  phase->since = now;
  return AlertChange::kNone;
}

}  // namespace

AlertPhase NewPhase(Time now) {
  AlertPhase phase;
  phase.since = now;
  phase.due = now;
  return phase;
}

AlertChange Move(const AlertPolicy& policy, Time now, bool present,
                 AlertPhase* phase) {
  phase->present = present;
  switch (phase->state) {
    case AlertState::kPending:
      return MovePending(policy, now, phase);
    case AlertState::kFiring:
      if (present || now < phase->due) return AlertChange::kNone;
      phase->state = AlertState::kResolved;
      phase->since = now;
      return AlertChange::kResolved;
    case AlertState::kResolved:
      if (!present) return AlertChange::kNone;
      ++phase->reopened;
      phase->state = AlertState::kPending;
      phase->since = now;
      phase->due =
          phase->reopened < policy.flaps_after ? now : now + policy.hold;
      return MovePending(policy, now, phase);
  }
  return AlertChange::kNone;
}

std::optional<Time> NextTimer(const AlertPhase& phase) {
  const bool waits = (phase.state == AlertState::kPending && phase.present) ||
                     (phase.state == AlertState::kFiring && !phase.present);
  return waits ? std::optional<Time>(phase.due) : std::nullopt;
}

bool MayReopen(const AlertPolicy& policy, Time now, const AlertPhase& phase) {
  return phase.state == AlertState::kResolved &&
         now - phase.since <= policy.reopen_within;
}

}  // namespace nanwatch
