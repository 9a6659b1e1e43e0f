// IncidentBook: the alert state machine of one run attempt. Findings in,
// incidents and notices out: one cause, one incident; pending, firing,
// resolved; re-opened rather than repeated.

#ifndef NANWATCH_ALERT_INCIDENT_BOOK_H_
#define NANWATCH_ALERT_INCIDENT_BOOK_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alert/grouping.h"
#include "alert/incident_id.h"
#include "alert/mutes.h"
#include "alert/rank_place.h"
#include "alert/transition.h"
#include "base/time.h"
#include "model/diagnosis.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/incident.h"
#include "model/past_trouble.h"
#include "model/rule_id.h"

namespace nanwatch {

// Why an incident resolves whose findings turned out to be another's.
inline constexpr char kExplainedElsewhere[] = "explained by another incident";

using FindPlace = std::function<RankPlace(int32_t rank)>;

class IncidentBook {
 public:
  IncidentBook(RunKey run, AlertPolicy policy);

  // Groups `findings`, all whose severity is not kNone now, under the causes of
  // `diagnosis`, which was made of them, and moves every incident on. Appends
  // to `*changed` each incident that fired, changed severity, cause or name
  // while firing, or resolved. Call it with every change: when nothing changed
  // it costs one hash. Numbers and sentences inside are renewed once a second.
  void Update(Time now, int64_t step, std::span<const Finding> findings,
              const Diagnosis& diagnosis, const FindPlace& place,
              std::vector<Incident>* changed);
  // Makes the next Update renew numbers and sentences, however soon it comes.
  void RenewNext() { renew_ = {}; }
  // Ends holds and mutes that are due, and tells annotations. The earliest is
  // due at NextTimer(), which may be in the past.
  void Advance(Time now, std::vector<Incident>* changed);
  std::optional<Time> NextTimer() const { return next_timer_; }
  // What is of the future is of a clock that was wrong. True: something was.
  bool NotAfter(Time now);
  // Resolves everything at once, whatever the hold: the run ended. What is
  // found to the end has `reason`, and no step at which it was over. (The
  // notifier keeps its own, so that Alertmanager sees it.)
  void Close(Time now, std::string_view reason, std::vector<Incident>* changed);
  // Returns the incidents as one list in which each trouble stands once, for a
  // run that ended: what is a part of another one is marked, what came back is
  // as old as the first time, and so is what an attempt before had. Takes from
  // `*before` what it has again.
  std::vector<Incident> Whole(std::vector<PastTrouble>* before) const;
  // Returns what the attempt after this one may have again: these, and those of
  // `before` that this one did not have. The newest limits::kIncidentsPerRun.
  std::vector<PastTrouble> Troubles(std::vector<PastTrouble> before,
                                    int64_t last_step) const;
  // Makes notes of troubles that `rules` alone found, where each came once, was
  // never critical, and is no more than a note by now.
  void MakeNotes(const RuleSet& rules);
  // Makes critical what the program gave up over, or opens an incident of what
  // no finding shows: `said` has its names and its words. No Update may follow
  // but with new records.
  void MakeCritical(Time now, uint64_t id, std::vector<Incident>* changed);
  void OpenSaid(Time now, Incident said, std::vector<Incident>* changed);
  // Sets holds that begin from here on; those that run end as they were set.
  void SetPolicy(const AlertPolicy& policy) { policy_ = policy; }
  // Takes it in; what follows is told by the next Advance, which is due at
  // once. An incident that is muted while it fires is told once, with `muted`
  // set, and then no more until that ends.
  void Annotate(Time now, const Annotation& annotation);

  // Returns its summary as of when it is over; empty where that is its summary.
  const std::string& SummaryOver(const Incident& incident) const {
    return tracks_[static_cast<size_t>(&incident - incidents_.data())]
        .summary_over;
  }
  // Notes the step at which a finding was seen last, before it goes.
  void NoteLast(const Finding& gone);
  // True for a resolved one whose findings turned out to be another's.
  // REQUIRES: it is one of incidents().
  bool IsPart(const Incident& incident) const {
    return incident.state == AlertState::kResolved &&
           tracks_[static_cast<size_t>(&incident - incidents_.data())].ending ==
               Ending::kElsewhere;
  }
  // Returns open ones by opening, then resolved ones, newest first.
  std::span<const Incident> incidents() const { return incidents_; }
  // Returns the worst of firing ones.
  Severity worst() const {
    Severity worst = Severity::kNone;
    for (const Incident& incident : incidents_) {
      if (incident.state == AlertState::kFiring) {
        worst = std::max(worst, incident.severity);
      }
    }
    return worst;
  }
  // Groups that were not opened because limits::kIncidentsPerRun were.
  uint64_t limit_hits() const { return limit_hits_; }

  // Saves and loads checkpoints. Load returns false, and leaves the book empty,
  // when `bytes` is not what Save wrote for this run.
  void Save(std::string* bytes) const;
  bool Load(std::string_view bytes);

 private:
  // What the book knows of incidents_[i] beside what the world may see.
  enum class Ending : uint8_t {
    kCleared,    // nothing is found any more
    kElsewhere,  // its findings turned out to be those of another incident
    kRunOver,
  };
  friend constexpr Ending Last(Ending) { return Ending::kRunOver; }
  struct Track {
    AlertPhase phase;
    Ending ending = Ending::kCleared;  // as which it would resolve
    std::string reason;                // the same in words
    Origin origin;                     // of the findings since they came
    Origin name;         // what the incident is named after, but for the step
    bool named = false;  // that is what its cause rests on
    // As told before it was re-opened; absent: never told.
    std::optional<int64_t> first_step;
    std::string summary_over;  // of an open one; empty: the summary itself
    int64_t back_step = -1;    // the newest Finding::back_step

    template <typename A>
    friend void Fields(A& a, Track& t) {
      a(t.phase, t.reason, t.origin, t.name, t.named, t.ending, t.summary_over,
        t.first_step, t.back_step);
    }
  };
  static constexpr size_t kNoIncident = static_cast<size_t>(-1);

  std::vector<size_t> MatchGroups(Time now,
                                  std::span<const FindingGroup> groups) const;
  size_t FindAgain(Time now, const FindingGroup& group,
                   const std::vector<bool>& taken) const;
  size_t Open(Time now, const FindingGroup& group);
  void Refresh(Time now, size_t index, const FindingGroup& group,
               const FindPlace& place, std::vector<Incident>* changed);
  bool Rename(size_t index, const FindingGroup& group, bool other_cause,
              const FindPlace& place);
  void Miss(Time now, size_t index, std::vector<Incident>* changed);
  size_t HolderOf(const Finding& finding) const;
  AlertChange MoveOn(Time now, size_t index, bool present);
  void Resolve(Time now, size_t index);
  bool Remute(Time now, size_t index);
  uint64_t FreeId(uint64_t id) const;
  void Tell(size_t index, bool news, bool mute_changed,
            std::vector<Incident>* changed);
  void Tidy(Time now);
  void Clear();

  template <typename A>
  friend void Fields(A& a, IncidentBook& b) {
    a(b.last_step_, b.shape_, b.renew_, b.limit_hits_, b.annotated_,
      b.next_timer_, b.mutes_, b.incidents_, b.tracks_);
  }

  const RunKey run_;
  AlertPolicy policy_;

  std::vector<Incident> incidents_;
  std::vector<Track> tracks_;  // as long as incidents_
  Mutes mutes_;
  bool annotated_ = false;  // mutes changed and nobody was told
  int64_t last_step_ = 0;
  uint64_t shape_ = 0;  // of the findings and the diagnosis at the last Update
  Time renew_{};        // when numbers and sentences are taken over again
  uint64_t limit_hits_ = 0;
  std::optional<Time> next_timer_;
};

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_INCIDENT_BOOK_H_
