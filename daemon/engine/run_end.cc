// No record follows: what waited for more is judged as it stands.

#include <utility>

#include "diagnose/scale_facts.h"
#include "engine/given_up.h"
#include "engine/run_state.h"

namespace nanwatch {

void RunState::EndRecords(Time now, RankState* rank, const RecordsEnded& ended,
                          Effects* effects) {
  if (closed()) return;
  if (rank != nullptr) rank_end_ = EndWith(*rank, ended.end);
  for (const auto& each : ranks_) {
    if (rank == nullptr || each.get() == rank) JudgeEnd(each.get());
  }
  JudgeIfChanged(now, last_step_, effects);
  if (rank != nullptr) return;
  if (IsScaleBack(Evidence())) book_.MakeNotes(kScaleFell);
  Renew(now, effects);
  records_ended_ = ended;
  dirty_ = true;
  if (gave_up()) GiveUp(now, effects);
}

std::optional<RankEnd> RunState::EndWith(
    const RankState& rank, const std::optional<ProgramEnd>& end) const {
  if (!end) return rank_end_;
  const RankEnd told{*end, rank.description.rank,
                     rank.totals.steps > 0 ? rank.last_step : -1};
  return rank_end_ && !SaysMore(told, *rank_end_) ? rank_end_ : told;
}

void RunState::JudgeEnd(RankState* rank) {
  if (rank->life != LifeState::kOpen) return;
  for (OptimizerTrack& track : rank->tracks) {
    const auto changed = [&](size_t i) {
      Changed(
          KeyOf(*rank, track, i), track.rules,
          Blank(SubjectOf(*rank, track), rank->last_step, rank->last_record));
    };
    track.rules.OnEnd(shared_->tables->step(), rank->LevelOf(track), changed);
    changes_ += track.outliers.End();
  }
}

bool RunState::gave_up() const {
  return records_ended_ && records_ended_->gave_up &&
         records_ended_->how == RecordsEnded::How::kGaveUp;
}

// The worst trouble that it was in is what it gave up over. Where nothing that
// was seen was trouble, the program's own word for it is.
void RunState::GiveUp(Time now, Effects* effects) {
  const GaveUp& word = *records_ended_->gave_up;
  std::vector<PastTrouble> before = troubles_before_;
  const std::vector<Incident> whole = book_.Whole(&before);
  const Incident* worst = nullptr;
  for (const Incident& incident : whole) {
    if (incident.part || incident.state != AlertState::kFiring ||
        incident.severity < Severity::kWarning ||
        incident.family == Family::kTelemetry) {
      continue;
    }
    if (worst == nullptr || incident.severity > worst->severity) {
      worst = &incident;
    }
  }
  std::vector<Incident> changed;
  const Time at = Raise(now);
  if (worst != nullptr) {
    book_.MakeCritical(at, worst->id, &changed);
  } else {
    const int64_t step = last_step_ == INT64_MIN ? 0 : last_step_;
    diagnosis_ = DiagnosisOfWord(word, step, description_);
    book_.OpenSaid(at, IncidentOfWord(word, step), &changed);
  }
  Tell(&changed, effects);
}

// Records follow after all.
void RunState::GoOn() {
  if (records_ended_) dirty_ = true;
  records_ended_.reset();
}

// The last word is as of the last record, not of the last diagnosis.
void RunState::Renew(Time now, Effects* effects) {
  for (const auto& rank : ranks_) Refresh(rank.get(), rank->last_record);
  book_.RenewNext();
  Judge(now, last_step_, effects);
}

}  // namespace nanwatch
