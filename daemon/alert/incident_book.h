// IncidentBook: the alert state machine of one run attempt. Findings in,
// incidents and notices out: one cause, one incident; pending, firing,
// resolved; re-opened rather than repeated.

#ifndef NANWATCH_ALERT_INCIDENT_BOOK_H_
#define NANWATCH_ALERT_INCIDENT_BOOK_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/diagnosis.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/incident.h"

namespace nanwatch {

struct AlertPolicy {
  // A firing incident stays for so long, that Alertmanager's group_wait (30 s)
  // does not swallow it.
  Duration hold = std::chrono::seconds(45);
  // Resolved, then back within this: the same incident, re-opened.
  Duration reopen_within = std::chrono::minutes(15);
};

// Where a finding's rank runs; empty strings when not known.
struct RankPlace {
  std::string host;
  std::string device;
};
using FindPlace = std::function<RankPlace(int32_t rank)>;

class IncidentBook {
 public:
  IncidentBook(RunKey run, AlertPolicy policy);

  // `findings`: all whose severity is not kNone now, with `diagnosis` made of
  // them. Groups them under their causes and moves every incident on. Appends
  // to
  // `*changed` each incident that fired, changed severity or resolved.
  void Update(Time now, int64_t step, std::span<const Finding> findings,
              const Diagnosis& diagnosis, const FindPlace& place,
              std::vector<Incident>* changed);
  // Timers: holds that end. The earliest is due at NextTimer().
  void Advance(Time now, std::vector<Incident>* changed);
  std::optional<Time> NextTimer() const;
  // The run ended: everything resolves with `reason`.
  void Close(Time now, std::string_view reason, std::vector<Incident>* changed);
  void Annotate(Time now, const Annotation& annotation);

  // Open ones by opening, then resolved ones, newest first.
  std::span<const Incident> incidents() const;
  Severity worst() const;  // of firing incidents

  // For checkpoints. Load returns false, and leaves the book empty, when
  // `bytes` is not what Save wrote.
  void Save(std::string* bytes) const;
  bool Load(std::string_view bytes);
};

// The id of an incident: stable under replay.
uint64_t IncidentId(const RunKey& run, Family family, const Subject& subject,
                    int64_t opened_step);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_INCIDENT_BOOK_H_
