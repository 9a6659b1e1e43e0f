// Mutes: who asked not to be told of what, and until when.

#ifndef NANWATCH_ALERT_MUTES_H_
#define NANWATCH_ALERT_MUTES_H_

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/incident.h"

namespace nanwatch {

class Mutes {
 public:
  // Takes kMute and kUnmute; others change nothing.
  void Take(const Annotation& annotation);
  // True when the incident is muted: by its id, with its whole run, or when
  // each of its findings is of a muted rule.
  bool Cover(Time now, const Incident& incident) const;
  // Returns the end of the first mute to end after `now`.
  std::optional<Time> NextEnd(Time now) const;

 private:
  struct Mute {
    uint64_t incident = 0;        // 0: all
    RuleId rule = RuleId::kNone;  // kNone: all
    Time until{};                 // epoch: for ever

    template <typename A>
    friend void Fields(A& a, Mute& m) {
      a(m.incident, m.rule, m.until);
    }
  };
  template <typename A>
  friend void Fields(A& a, Mutes& m) {
    a(m.mutes_);
  }
  bool CoverRule(Time now, RuleId rule) const;

  std::vector<Mute> mutes_;  // at most limits::kMutesPerRun; the oldest go
};

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_MUTES_H_
