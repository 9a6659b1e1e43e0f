#include "alert/incident_book.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "alert/same_incident.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

constexpr std::string_view kCleared = "cleared";
constexpr Duration kRenewEvery = std::chrono::seconds(1);

struct ByRuleAndSubject {
  bool operator()(const Finding* a, const Finding* b) const {
    if (a->rule != b->rule) return a->rule < b->rule;
    return a->subject < b->subject;
  }
};

bool IsOpen(const Incident& incident) {
  return incident.state != AlertState::kResolved;
}

}  // namespace

IncidentBook::IncidentBook(RunKey run, AlertPolicy policy)
    : run_(std::move(run)), policy_(policy) {}

void IncidentBook::Update(Time now, int64_t step,
                          std::span<const Finding> findings,
                          const Diagnosis& diagnosis, const FindPlace& place,
                          std::vector<Incident>* changed) {
  last_step_ = std::max(last_step_, step);
  Advance(now, changed);
  const uint64_t shape = ShapeOf(findings, diagnosis);
  if (shape == shape_ && now < renew_) return;
  shape_ = shape;
  renew_ = now + kRenewEvery;

  const std::vector<FindingGroup> groups = GroupFindings(findings, diagnosis);
  const std::vector<size_t> matches = MatchGroups(now, groups);
  std::vector<bool> seen(incidents_.size(), false);
  for (size_t g = 0; g < groups.size(); ++g) {
    size_t index = matches[g];
    if (index == kNoIncident) index = Open(now, groups[g]);
    if (index == kNoIncident) continue;
    seen.resize(incidents_.size(), false);
    seen[index] = true;
    Refresh(now, index, groups[g], place, changed);
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i] && IsOpen(incidents_[i])) Miss(now, i, changed);
  }
  Tidy(now);
}

// Returns for each group its incident: the open one that holds one of its
// findings; if several do, the one that opened first. Else one about the same
// cause, else a resolved one that comes back.
std::vector<size_t> IncidentBook::MatchGroups(
    Time now, std::span<const FindingGroup> groups) const {
  std::map<const Finding*, size_t, ByRuleAndSubject> owner;
  for (size_t i = 0; i < incidents_.size() && IsOpen(incidents_[i]); ++i) {
    for (const Finding& finding : incidents_[i].findings) {
      owner.emplace(&finding, i);
    }
  }
  std::vector<size_t> matches(groups.size(), kNoIncident);
  std::vector<bool> taken(incidents_.size(), false);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const Finding* finding : groups[g].findings) {
      const auto found = owner.find(finding);
      if (found == owner.end() || taken[found->second]) continue;
      matches[g] = std::min(matches[g], found->second);
    }
    if (matches[g] != kNoIncident) taken[matches[g]] = true;
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (matches[g] != kNoIncident) continue;
    matches[g] = FindAgain(now, groups[g], taken);
    if (matches[g] != kNoIncident) taken[matches[g]] = true;
  }
  return matches;
}

size_t IncidentBook::FindAgain(Time now, const FindingGroup& group,
                               const std::vector<bool>& taken) const {
  const Finding& first = *group.findings[0];
  const uint64_t id =
      IncidentId(run_, first.family, first.subject.op, first.opened_step);
  for (size_t i = 0; i < incidents_.size(); ++i) {
    const Incident& incident = incidents_[i];
    if (taken[i]) continue;
    if (!IsOpen(incident) && !MayReopen(policy_, now, tracks_[i].phase)) {
      continue;
    }
    if (incident.id == id || SameCause(incident, group) ||
        SameUnexplained(incident, tracks_[i].origin, group)) {
      return i;
    }
    if (!IsOpen(incident) && !incident.findings.empty() &&
        SameButForTheRank(incident.findings[0], group.head())) {
      return i;
    }
  }
  return kNoIncident;
}

size_t IncidentBook::Open(Time now, const FindingGroup& group) {
  const auto open = std::count_if(incidents_.begin(), incidents_.end(), IsOpen);
  if (open >= limits::kIncidentsPerRun) {
    ++limit_hits_;
    return kNoIncident;
  }
  const Finding& first = *group.findings[0];
  Incident incident;
  incident.id = FreeId(
      IncidentId(run_, first.family, first.subject.op, first.opened_step));
  incident.opened = now;
  incidents_.push_back(std::move(incident));
  Track track;
  track.phase = NewPhase(now);
  track.origin = track.name = OriginOf(first);
  tracks_.push_back(std::move(track));
  return incidents_.size() - 1;
}

// Two incidents may begin with the same subject and step (two rules, two
// causes), or one may come back too late to be the same.
uint64_t IncidentBook::FreeId(uint64_t id) const {
  const auto taken = [&](const Incident& other) { return other.id == id; };
  while (std::any_of(incidents_.begin(), incidents_.end(), taken)) {
    if (++id == 0) ++id;
  }
  return id;
}

void IncidentBook::Refresh(Time now, size_t index, const FindingGroup& group,
                           const FindPlace& place,
                           std::vector<Incident>* changed) {
  Incident& incident = incidents_[index];
  const Severity severity = group.severity();
  const Cause cause =
      group.cause == nullptr ? Cause::kUnexplained : group.cause->cause;
  const bool other_cause = incident.cause != cause;
  bool differs = incident.severity != severity || other_cause;
  const bool known_by_name =
      IsOpen(incident) && incident.worst >= Severity::kWarning;
  incident.severity = severity;
  incident.cause = cause;
  // What does no harm, as is known by now, never was as bad.
  const bool as_bad = std::any_of(
      group.findings.begin(), group.findings.end(),
      [&](const Finding* f) { return f->severity >= incident.worst; });
  const bool harmless = severity <= Severity::kInfo && as_bad;
  const bool was_note = incident.worst < Severity::kWarning;
  incident.worst = harmless ? severity : std::max(incident.worst, severity);
  if (was_note && incident.worst >= Severity::kWarning) {
    // Notes that are over are no trouble that comes back.
    tracks_[index].first_step.reset();
  }
  incident.findings = {group.head()};
  for (const Finding* finding : group.findings) {
    if (incident.findings.size() == limits::kFindingsPerIncident) break;
    if (finding != &group.head()) incident.findings.push_back(*finding);
  }
  const bool known = group.has_cause() && !group.cause->sentence.empty();
  for (Finding& finding : incident.findings) {
    finding.in_summary = InSummaryOf(group, known, finding);
  }
  const Finding& first = *group.findings[0];
  incident.summary = known ? group.cause->sentence : first.sentence;
  tracks_[index].summary_over =
      known ? group.cause->sentence_over : first.sentence_over;
  differs |= Rename(index, group, other_cause, place);
  if (!known_by_name) incident.alert_family = incident.family;
  incident.updated = now;

  const AlertChange change = MoveOn(now, index, true);
  const bool fired =
      change == AlertChange::kFired || change == AlertChange::kReopened;
  const bool firing = incident.state == AlertState::kFiring;
  const bool mute_changed = Remute(now, index);
  Tell(index, fired || (firing && differs), firing && !fired && mute_changed,
       changed);
}

// Names the incident after the first of all its findings since they came, so
// that it does not matter which rank was heard first; but as its cause says,
// where that knows better, and so it stays. True: it had another name.
bool IncidentBook::Rename(size_t index, const FindingGroup& group,
                          bool other_cause, const FindPlace& place) {
  Incident& incident = incidents_[index];
  Track& track = tracks_[index];
  const Origin now = OriginOf(*group.findings[0]);
  // One that comes back after its end is about what is there now.
  if (!IsOpen(incident)) track.named = false;
  if (!IsOpen(incident) || Earlier(now, track.origin)) track.origin = now;
  if (group.has_cause() && group.named()) {
    const Origin head = OriginOf(group.head());
    if (!track.named || other_cause || IsBetter(group, track.name) ||
        (head.rule == track.name.rule && Earlier(head, track.name))) {
      track.name = head;
    }
    track.named = true;
  } else if (!track.named) {
    track.name = track.origin;
  }
  const Origin& name = track.name;
  const bool at_op = group.has_cause() && !group.cause->origin.op.empty();
  // Not after another rank where the one that it is named after has left.
  const bool stays = IsOpen(incident) && !other_cause && at_op &&
                     incident.subject.op == group.cause->origin.op;
  const Subject subject = stays   ? incident.subject
                          : at_op ? group.cause->origin
                                  : name.subject;
  const int64_t step = track.origin.step;
  const bool renamed =
      incident.family != name.family || incident.rule != name.rule ||
      incident.opened_step != step || incident.subject != subject;
  incident.family = name.family;
  incident.rule = name.rule;
  incident.opened_step = step;
  incident.subject = subject;
  RankPlace where;
  if (subject.rank >= 0 && place != nullptr) where = place(subject.rank);
  incident.host = std::move(where.host);
  incident.device = std::move(where.device);
  incident.pod = std::move(where.pod);
  return renamed;
}

// Returns the incident that holds it; kNoIncident where it is found no more.
size_t IncidentBook::HolderOf(const Finding& finding) const {
  for (size_t i = 0; i < incidents_.size(); ++i) {
    if (!IsOpen(incidents_[i])) continue;
    const std::vector<Finding>& held = incidents_[i].findings;
    if (std::any_of(held.begin(), held.end(), [&](const Finding& other) {
          return SameFinding(other, finding);
        })) {
      return i;
    }
  }
  return kNoIncident;
}

// Moves on an open incident whose findings are gone, or belong to another one
// now, which then was as bad.
void IncidentBook::Miss(Time now, size_t index,
                        std::vector<Incident>* changed) {
  Incident& incident = incidents_[index];
  const std::vector<Finding> mine = std::exchange(incident.findings, {});
  const size_t other = mine.empty() ? kNoIncident : HolderOf(mine[0]);
  incident.findings = mine;
  tracks_[index].ending =
      other == kNoIncident ? Ending::kCleared : Ending::kElsewhere;
  tracks_[index].reason = other == kNoIncident ? kCleared : kExplainedElsewhere;
  const AlertChange change = MoveOn(now, index, false);
  if (other != kNoIncident && change == AlertChange::kResolved) {
    incidents_[other].worst = std::max(incidents_[other].worst, incident.worst);
  }
  Tell(index, change == AlertChange::kResolved, false, changed);
}

// Moves the phase on and lets the incident show it. A forgotten one keeps the
// state kPending without findings until Tidy removes it.
AlertChange IncidentBook::MoveOn(Time now, size_t index, bool present) {
  Incident& incident = incidents_[index];
  const AlertChange change = Move(policy_, now, present, &tracks_[index].phase);
  incident.state = tracks_[index].phase.state;
  incident.reopened = tracks_[index].phase.reopened;
  switch (change) {
    case AlertChange::kNone:
      break;
    case AlertChange::kReopened:
      incident.resolved.reset();
      incident.resolved_step.reset();
      incident.resolved_reason.clear();
      incident.acknowledged_by.clear();
      [[fallthrough]];
    case AlertChange::kFired:
      incident.fired = now;
      break;
    case AlertChange::kResolved:
      Resolve(now, index);
      break;
    case AlertChange::kForgotten:
      incident.findings.clear();
      break;
  }
  return change;
}

bool IncidentBook::Remute(Time now, size_t index) {
  const bool muted = mutes_.Cover(now, incidents_[index]);
  return std::exchange(incidents_[index].muted, muted) != muted;
}

// A muted incident has no news but that it is muted.
void IncidentBook::Tell(size_t index, bool news, bool mute_changed,
                        std::vector<Incident>* changed) {
  const Incident& incident = incidents_[index];
  std::optional<int64_t>& first = tracks_[index].first_step;
  // While it is open it may be found to have begun earlier still.
  if (news && (!first || incident.reopened == 0)) first = incident.opened_step;
  if (mute_changed || (news && !incident.muted)) changed->push_back(incident);
}

void IncidentBook::Advance(Time now, std::vector<Incident>* changed) {
  if (!next_timer_ || *next_timer_ > now) return;
  // Timers fire in the order of their due times, each at its own.
  while (true) {
    size_t first = kNoIncident;
    Time due{};
    for (size_t i = 0; i < tracks_.size(); ++i) {
      const std::optional<Time> timer = nanwatch::NextTimer(tracks_[i].phase);
      if (!timer || *timer > now) continue;
      if (first == kNoIncident || *timer < due) {
        first = i;
        due = *timer;
      }
    }
    if (first == kNoIncident) break;
    const AlertChange change = MoveOn(due, first, tracks_[first].phase.present);
    Tell(first, change != AlertChange::kNone, false, changed);
  }
  annotated_ = false;
  for (size_t i = 0; i < incidents_.size(); ++i) {
    if (!IsOpen(incidents_[i])) continue;
    const bool mute_changed = Remute(now, i);
    Tell(i, false, mute_changed && incidents_[i].state == AlertState::kFiring,
         changed);
  }
  Tidy(now);
}

void IncidentBook::Annotate(Time now, const Annotation& annotation) {
  mutes_.Take(annotation);
  if (annotation.kind == Annotation::Kind::kAcknowledge) {
    for (Incident& incident : incidents_) {
      // One that is named may be over already: somebody looked after it.
      const bool meant = annotation.incident == 0
                             ? IsOpen(incident)
                             : annotation.incident == incident.id;
      if (!meant) continue;
      incident.acknowledged_by = annotation.by;
      incident.updated = now;
    }
  }
  annotated_ = true;
  next_timer_ = now;
}

// Puts the incidents in order, forgets what is to be forgotten, and finds the
// next timer.
void IncidentBook::Tidy(Time now) {
  std::vector<size_t> order;
  order.reserve(incidents_.size());
  for (size_t i = 0; i < incidents_.size(); ++i) {
    const bool forgotten = incidents_[i].state == AlertState::kPending &&
                           !tracks_[i].phase.present;
    if (!forgotten) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    const Incident& x = incidents_[a];
    const Incident& y = incidents_[b];
    if (IsOpen(x) != IsOpen(y)) return IsOpen(x);
    return IsOpen(x) ? x.opened < y.opened
                     : tracks_[a].phase.since > tracks_[b].phase.since;
  });
  // Open ones are at most as many, so that only resolved ones go.
  if (order.size() > limits::kIncidentsPerRun) {
    order.resize(limits::kIncidentsPerRun);
  }
  // Mostly they are in order, and all stay.
  if (order.size() < incidents_.size() ||
      !std::is_sorted(order.begin(), order.end())) {
    std::vector<Incident> incidents;
    std::vector<Track> tracks;
    for (const size_t i : order) {
      incidents.push_back(std::move(incidents_[i]));
      tracks.push_back(std::move(tracks_[i]));
    }
    incidents_ = std::move(incidents);
    tracks_ = std::move(tracks);
  }
  next_timer_ = annotated_ ? std::optional<Time>(now) : mutes_.NextEnd(now);
  for (const Track& track : tracks_) {
    const std::optional<Time> timer = nanwatch::NextTimer(track.phase);
    if (timer && (!next_timer_ || *timer < *next_timer_)) next_timer_ = timer;
  }
}

}  // namespace nanwatch
