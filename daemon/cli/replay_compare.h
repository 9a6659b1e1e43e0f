// What was reported of a run, beside what judging its history again finds.

#ifndef NANWATCH_CLI_REPLAY_COMPARE_H_
#define NANWATCH_CLI_REPLAY_COMPARE_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/incident.h"
#include "model/run.h"
#include "model/snapshot.h"

namespace nanwatch {

using SentIncidents = std::vector<std::pair<RunKey, Incident>>;

// What an incident is, in which two differ: rule, family, cause, worst
// severity, opened step. A line each, "rule: was ..., now ..."; none: the same.
std::vector<std::string> NameDifferences(const Incident& was,
                                         const Incident& now);
// What it said: its summary, and of its findings which there are, their
// severity, opened step and sentence. Both must be of the same moment, since
// these move on with every step. What `was` did not record (an export with
// hashed names keeps no sentences) is not compared.
std::vector<std::string> WordDifferences(const Incident& was,
                                         const Incident& now);

// Collects, while a history is judged again, each incident as it stood at the
// moment of which the record is.
class ReplayCompare {
 public:
  // `sent` must outlive this.
  explicit ReplayCompare(const SentIncidents& sent);

  // The time that the recording engine had reached when it said all that.
  Time Until() const { return until_; }
  void Told(const Notice& notice);
  // A line a difference; none: the incidents of `end` are those recorded.
  std::vector<std::string> Differences(const Snapshot& end) const;
  // Recorded of a moment at which the replay told nothing of them: only what
  // they are was compared. Of a run that was exported while it went on, say.
  size_t of_another_moment() const { return of_another_moment_; }

 private:
  struct Found {
    RunKey run;
    Incident incident;
  };
  std::vector<std::string> Compare(const Incident& was,
                                   const Incident& end) const;

  const SentIncidents& sent_;
  Time until_{};
  // By id, as told at the recorded moment; several, where it was told twice.
  std::map<uint64_t, std::vector<Incident>> told_;
  std::map<uint64_t, Time> moment_;
  mutable size_t of_another_moment_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_REPLAY_COMPARE_H_
