// What becomes of the incidents when the run ends: all resolve, each trouble
// stands once, and what the program gave up over is critical.

#include <algorithm>
#include <utility>

#include "alert/incident_book.h"
#include "alert/same_incident.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// Steps beyond the end of the attempt before: other data came in other order.
constexpr int64_t kFarther = 1000;

// A program's word holds no finding, and nothing is known to be the same.
bool IsFound(const Incident& incident) { return !incident.findings.empty(); }

// Returns the rule that it is named after, and those of its findings.
RuleSet RulesOf(const Incident& incident) {
  RuleSet rules = {incident.rule};
  for (const Finding& finding : incident.findings) rules.Add(finding.rule);
  return rules;
}

bool SameTrouble(const PastTrouble& a, const Incident& b) {
  return a.rule == b.rule && a.family == b.family && a.op == b.subject.op &&
         a.optimizer == b.subject.optimizer;
}

// A low scale that probes once in each growth interval, which may be longer
// than the time in which an incident is opened again.
bool SameProbing(const Incident& a, const Incident& b) {
  return a.family == Family::kScale && b.family == Family::kScale &&
         a.cause == b.cause && a.subject.op == b.subject.op &&
         a.subject.optimizer == b.subject.optimizer;
}

// Works on Incident and PastTrouble.
template <typename First>
void Fold(const First& first, Incident* again) {
  again->opened_step = std::min(again->opened_step, first.opened_step);
  again->worst = std::max(again->worst, first.worst);
  again->reopened += 1 + first.reopened;
}

// The last of them stands, as old as the first.
void FoldProbes(std::vector<Incident>* incidents) {
  for (auto again = incidents->begin(); again != incidents->end(); ++again) {
    if (again->part || !IsFound(*again)) continue;
    for (auto first = incidents->begin(); first != again; ++first) {
      if (first->part || !IsFound(*first) || !SameProbing(*first, *again)) {
        continue;
      }
      Fold(*first, &*again);
      first->part = true;
    }
  }
}

// The newest that `again` repeats, of the newest attempt that had it.
std::vector<PastTrouble>::iterator FindBefore(
    const Incident& again, std::vector<PastTrouble>* before) {
  auto newest = before->end();
  for (auto it = before->begin(); it != before->end(); ++it) {
    if (!SameTrouble(*it, again)) continue;
    if (newest == before->end() || it->attempt > newest->attempt ||
        (it->attempt == newest->attempt &&
         it->opened_step > newest->opened_step)) {
      newest = it;
    }
  }
  return newest;
}

// Returns the first step at which none of them was seen any more, that of a
// record where `back` is one; none: there are none.
std::optional<int64_t> StepAfter(const std::vector<Finding>& findings,
                                 int64_t back) {
  if (findings.empty()) return std::nullopt;
  int64_t after = back;
  for (const Finding& finding : findings) {
    after = std::max(after, finding.last_step + 1);
  }
  return after;
}

}  // namespace

void IncidentBook::NoteLast(const Finding& gone) {
  for (size_t i = 0; i < incidents_.size(); ++i) {
    if (incidents_[i].state == AlertState::kResolved) continue;
    int64_t& back = tracks_[i].back_step;
    for (Finding& finding : incidents_[i].findings) {
      if (!SameFinding(finding, gone)) continue;
      finding.last_step = gone.last_step;
      back = std::max(back, gone.back_step.value_or(-1));
    }
  }
}

void IncidentBook::Resolve(Time now, size_t index) {
  Incident& incident = incidents_[index];
  incident.state = AlertState::kResolved;
  incident.updated = now;
  incident.resolved = now;
  if (tracks_[index].ending != Ending::kRunOver) {
    incident.resolved_step =
        StepAfter(incident.findings, tracks_[index].back_step);
  }
  incident.resolved_reason = tracks_[index].reason;
  // Not that of a run that ended with it.
  std::string over = std::exchange(tracks_[index].summary_over, {});
  if (tracks_[index].ending == Ending::kCleared && !over.empty()) {
    incident.summary = std::move(over);
  }
}

void IncidentBook::Close(Time now, std::string_view reason,
                         std::vector<Incident>* changed) {
  Advance(now, changed);
  for (size_t i = 0; i < incidents_.size(); ++i) {
    if (incidents_[i].state == AlertState::kResolved) continue;
    AlertPhase& phase = tracks_[i].phase;
    const bool firing = phase.state == AlertState::kFiring;
    if (phase.present) {
      tracks_[i].reason = reason;
      tracks_[i].ending = Ending::kRunOver;
    }
    phase.due = now;
    MoveOn(now, i, false);
    Tell(i, firing, false, changed);
  }
  shape_ = 0;
  Tidy(now);
}

std::vector<Incident> IncidentBook::Whole(
    std::vector<PastTrouble>* before) const {
  std::vector<Incident> whole = incidents_;
  for (size_t i = 0; i < whole.size(); ++i) {
    Incident& incident = whole[i];
    incident.part = IsPart(incidents_[i]);
    const std::optional<int64_t>& first = tracks_[i].first_step;
    if (first) incident.opened_step = std::min(incident.opened_step, *first);
  }
  FoldProbes(&whole);
  for (Incident& again : whole) {
    if (again.part || !IsFound(again)) continue;
    const auto first = FindBefore(again, before);
    // A note is no trouble that came back.
    if (first == before->end() ||
        std::min(first->worst, Severity::kWarning) > again.worst ||
        again.opened_step > first->last_step + kFarther) {
      continue;
    }
    Fold(*first, &again);
    again.repeats = first->id;
    before->erase(first);
  }
  return whole;
}

std::vector<PastTrouble> IncidentBook::Troubles(std::vector<PastTrouble> before,
                                                int64_t last_step) const {
  const std::vector<Incident> whole = Whole(&before);
  for (const Incident& incident : whole) {
    if (incident.part || !IsFound(incident)) continue;
    before.push_back({.id = incident.id,
                      .attempt = run_.attempt,
                      .last_step = last_step,
                      .rule = incident.rule,
                      .family = incident.family,
                      .op = incident.subject.op,
                      .optimizer = incident.subject.optimizer,
                      .opened_step = incident.opened_step,
                      .worst = incident.worst,
                      .reopened = incident.reopened});
  }
  constexpr size_t kMost = limits::kIncidentsPerRun;
  if (before.size() > kMost) {
    before.erase(before.begin(), before.end() - kMost);
  }
  return before;
}

void IncidentBook::MakeNotes(const RuleSet& rules) {
  RuleSet seen;
  std::vector<Incident*> notes;
  for (size_t i = 0; i < incidents_.size(); ++i) {
    Incident& incident = incidents_[i];
    const RuleSet found = RulesOf(incident);
    if (!IsFound(incident) || !(found - rules).empty()) continue;
    if (incident.worst == Severity::kCritical) return;
    if (incident.reopened > 0 || !(found & seen).empty()) return;
    seen |= found;
    const bool over = !tracks_[i].phase.present;
    if (over || incident.severity <= Severity::kInfo) {
      notes.push_back(&incident);
    }
  }
  for (Incident* incident : notes) {
    incident->worst = std::min(incident->worst, Severity::kInfo);
  }
}

void IncidentBook::MakeCritical(Time now, uint64_t id,
                                std::vector<Incident>* changed) {
  for (size_t i = 0; i < incidents_.size(); ++i) {
    Incident& incident = incidents_[i];
    if (incident.id != id) continue;
    const bool news = incident.severity != Severity::kCritical;
    incident.severity = incident.worst = Severity::kCritical;
    incident.updated = now;
    Tell(i, news, false, changed);
  }
}

void IncidentBook::OpenSaid(Time now, Incident said,
                            std::vector<Incident>* changed) {
  said.id =
      FreeId(IncidentId(run_, said.family, said.subject.op, said.opened_step));
  said.state = AlertState::kFiring;
  said.opened = said.fired = said.updated = now;
  Track track;
  track.phase = NewPhase(now);
  Move(policy_, now, true, &track.phase);
  track.origin =
      track.name = {said.opened_step, said.family, said.rule, said.subject};
  incidents_.insert(incidents_.begin(), std::move(said));
  tracks_.insert(tracks_.begin(), std::move(track));
  Tell(0, true, false, changed);
}

}  // namespace nanwatch
