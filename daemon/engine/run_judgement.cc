// From findings to a diagnosis, from there to incidents, and to those who want
// to know.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "alert/rank_place.h"
#include "detect/program.h"
#include "diagnose/samples.h"
#include "engine/run_state.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// True where the newest losses stand so far above their level that they may
// have led to what follows.
bool StandsOut(const Series& loss) {
  constexpr float kFar = 5;         // deviations; ours
  constexpr float kSizable = 0.2f;  // of the loss, a logarithm; ours
  if (!loss.out() || loss.excursion().calm() > 0) return false;
  const float rise = loss.excursion().mean_rise();
  return rise >= kSizable && rise >= kFar * loss.noise();
}

LossRise RiseOf(const Series& loss) {
  return {.from_step = loss.excursion().step(),
          .from = loss.ValueAt(loss.excursion().base()),
          .to = loss.newest()};
}

}  // namespace

Finding RunState::Blank(const Subject& subject, int64_t step, Time time) const {
  Finding finding;
  finding.subject = subject;
  finding.opened_step = step;
  finding.last_step = step;
  finding.opened = time;
  finding.last = time;
  return finding;
}

Subject RunState::SubjectOf(const RankState& rank,
                            const OptimizerTrack& track) const {
  Subject subject;
  subject.rank = rank.description.rank;
  subject.optimizer = optimizers_[track.name];
  return subject;
}

void RunState::Put(const FindingKey& key, Finding finding) {
  dirty_ = true;
  const Finding* const held = board_.Find(key);
  if (held != nullptr) finding.opened = held->opened;
  const bool rose = held == nullptr || held->severity < finding.severity;
  const bool worst = finding.severity > judged_worst_;
  if (!board_.Put(key, std::move(finding))) {
    ++shared_->stats.findings_not_kept;
    return;
  }
  changes_ += worst ? limits::kFindingsPerRun : 1;
  if (rose) fresh_.push_back(key);
}

void RunState::Remove(const FindingKey& key) { changes_ += board_.Remove(key); }

void RunState::Refresh(RankState* rank, Time time) {
  for (const FindingKey& key : board_.KeysOf(rank->description.rank)) {
    Finding* const held = board_.Find(key);
    if (key.list == FindingKey::List::kStep) {
      rank->tracks[key.place].rules.Describe(key.rule, held);
    } else if (key.list == FindingKey::List::kOp) {
      const WatchedOp* watched = rank->ops.Watched(
          key.place / kSlots, static_cast<Slot>(key.place % kSlots), false);
      if (watched != nullptr) watched->rules.Describe(key.rule, held);
    } else if (key.list == FindingKey::List::kLayer) {
      const LayerRules* rules = rank->ops.layers().rules();
      if (rules != nullptr) rules->Describe(key.rule, held);
    } else if (key.list == FindingKey::List::kLayerMove) {
      const LayerCourse* course = rank->ops.layers().CourseOf(key.place);
      if (course != nullptr) course->Describe(key.rule, held);
    } else if (key.list == FindingKey::List::kBench) {
      bench_.rules().Describe(key.rule, held);
    }
    held->last = std::max(held->last, time);
  }
}

void RunState::JudgeIfChanged(Time time, int64_t step, Effects* effects) {
  if (changes_ > 0) Judge(time, step, effects);
}

void RunState::JudgeIfDue(Time time, int64_t step, Effects* effects) {
  constexpr size_t kTogether = 16;
  if (last_step_ > judged_step_ || changes_ * kTogether >= board_.size()) {
    JudgeIfChanged(time, step, effects);
  }
}

void RunState::Judge(Time time, int64_t step, Effects* effects) {
  changes_ = 0;
  judged_step_ = last_step_;
  dirty_ = true;
  if (closed() || gave_up()) {
    fresh_.clear();
    return;
  }
  const std::vector<Finding> findings = board_.Sorted();
  judged_worst_ = Severity::kNone;
  for (const Finding& finding : findings) {
    judged_worst_ = std::max(judged_worst_, finding.severity);
  }
  diagnosis_ = Diagnosed(findings);
  std::vector<Incident> changed;
  const Time at = Raise(time);
  const uint64_t not_opened = book_.limit_hits();
  book_.Update(
      at, step == INT64_MIN ? 0 : step, findings, diagnosis_,
      [this](int32_t rank) { return PlaceOf(rank); }, &changed);
  shared_->stats.incidents_not_opened += book_.limit_hits() - not_opened;
  Tell(&changed, effects);
  for (const FindingKey& key : std::exchange(fresh_, {})) {
    if (const Finding* opened = board_.Find(key)) Ask(*opened, step, effects);
  }
}

Diagnosis RunState::Diagnosed(const std::vector<Finding>& findings) const {
  RunEvidence evidence = Evidence();
  NameSuspect(findings, &evidence);
  constexpr RuleSet kOfScales =
      kLayerScaleRules | RuleSet{RuleId::kNoSingleScale};
  if (std::any_of(findings.begin(), findings.end(),
                  [&](const Finding& f) { return kOfScales.has(f.rule); })) {
    evidence.layer_ranges = ViewOfRanges();
  }
  Diagnosis diagnosis =
      Diagnose(description_, evidence, findings, shared_->tables->in_force());
  NameSamples(&diagnosis);
  return diagnosis;
}

void RunState::NameSamples(Diagnosis* diagnosis) const {
  for (CauseVerdict& cause : diagnosis->causes) {
    if (!MayComeFromData(cause.cause)) continue;
    const RankState* rank =
        cause.origin.rank < 0 ? Lowest() : FindRank(cause.origin.rank);
    if (rank == nullptr) continue;
    const auto samples = rank->samples.Find(cause.step);
    if (samples) SaySamples(*samples, &cause);
  }
}

void RunState::Tell(std::vector<Incident>* changed, Effects* effects) {
  for (Incident& incident : *changed) {
    AlertState& told =
        told_.try_emplace(incident.id, AlertState::kPending).first->second;
    if (incident.state == AlertState::kFiring && told != incident.state) {
      ++detections_[static_cast<int>(incident.alert_family)];
    }
    told = incident.state;
    StopOn(incident, effects);
    // Muted ones too: the book tells of a mute once, and then no more.
    Notice notice;
    notice.run = key_;
    notice.job = description_.job;
    notice.resolved = incident.state == AlertState::kResolved;
    for (const CauseVerdict& verdict : diagnosis_.causes) {
      if (verdict.cause == incident.cause) notice.actions = verdict.actions;
    }
    notice.incident = std::move(incident);
    effects->notices.push_back(std::move(notice));
  }
  ForgetTold();
}

// What the book let go needs no memory here.
void RunState::ForgetTold() {
  if (told_.size() <= 2 * book_.incidents().size() + 16) return;
  std::map<uint64_t, AlertState> kept;
  for (const Incident& incident : book_.incidents()) {
    const auto told = told_.find(incident.id);
    if (told != told_.end()) kept.insert(*told);
  }
  told_ = std::move(kept);
}

const RankState* RunState::Lowest() const {
  const RankState* any = nullptr;
  for (const auto& rank : ranks_) {
    if (rank->tally().updates() == 0) continue;
    if (rank->life == LifeState::kOpen) return rank.get();
    if (any == nullptr) any = rank.get();
  }
  return any;
}

// Ties go to the open ones, then to the lowest rank.
const OptimizerTrack* RunState::WorstTrack(bool with_scale) const {
  const auto badness = [](const RankState& rank, const StepTally& tally) {
    return std::tuple(tally.overflows_last_50(), tally.overflows(),
                      -tally.scale_now().value_or(INFINITY),
                      rank.life == LifeState::kOpen);
  };
  const RankState* of = nullptr;
  const OptimizerTrack* worst = nullptr;
  for (const auto& rank : ranks_) {
    for (const OptimizerTrack& track : rank->tracks) {
      if (with_scale && !track.tally.scale_now()) continue;
      if (worst == nullptr ||
          badness(*rank, track.tally) > badness(*of, worst->tally)) {
        of = rank.get();
        worst = &track;
      }
    }
  }
  return worst;
}

// Those with the most, and those of ranks of which something is found that may
// be theirs.
std::vector<OutlierBatches> RunState::Outliers() const {
  constexpr size_t kMost = 64;
  using OfRank = std::pair<const OutlierBatches*, int32_t>;
  std::vector<OfRank> all;
  for (const auto& rank : ranks_) {
    for (const OptimizerTrack& track : rank->tracks) {
      const OutlierBatches& outliers = track.outliers.batches();
      if (outliers.count == 0) continue;
      all.emplace_back(&outliers, rank->description.rank);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const OfRank& a, const OfRank& b) {
                     return a.first->count > b.first->count;
                   });
  std::vector<OutlierBatches> told;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i >= kMost && !board_.HasAnyOf(all[i].second)) continue;
    told.push_back(*all[i].first);
    told.back().rank = all[i].second;
  }
  return told;
}

RunEvidence RunState::Evidence() const {
  RunEvidence e;
  e.first_overflow_step = first_overflow_step_;
  e.last_overflow_step = last_overflow_step_;
  e.first_good_step = first_good_step_;
  e.last_step = last_step_ == INT64_MIN ? 0 : last_step_;
  e.world_size = description_.world_size;
  e.follows_rewards = FollowsRewards(description_);
  e.steps_counted = CountsSteps(description_);
  e.of_epochs = TellsEpochs(description_);
  e.updates_before = updates_before_;
  e.ranks_lost = static_cast<uint64_t>(LostRanks());
  e.dropped_steps = totals_.dropped_steps;
  e.ops_collected = totals_.op_statuses > 0;
  if (const OptimizerTrack* worst = WorstTrack(false)) {
    if (optimizers_.size() > 1) e.optimizer = optimizers_[worst->name];
    worst->tally.WriteUpdates(&e);
    worst->tally.WriteFractions(&e);
    const OptimizerTrack* scaled = WorstTrack(true);
    if (scaled != nullptr) scaled->tally.WriteScale(&e);
    WriteScaler(scaled != nullptr ? scaled->scaler : worst->scaler, &e);
  }
  for (const auto& rank : ranks_) {
    e.rivals |= rank->rivals.Seen();
    for (const OptimizerTrack& track : rank->tracks) {
      e.sums |= track.series.is_sum();
      if (rank->LevelOf(track) != LevelKind::kKept) continue;
      const Series& loss = track.series.loss;
      if (StandsOut(loss)) e.stands_out = RiseOf(loss);
      if (!IsUnsettled(loss)) continue;
      e.unsettled = RiseOf(loss);
    }
    rank->tally().AddLoss(rank->description.rank, &e);
    rank->tally().AddGradients(&e);
    rank->tally().WriteFractions(&e);
  }
  e.outliers = Outliers();
  if (e.nonfinite_loss_rank >= 0) {
    e.nonfinite_loss_place = Text(PlaceOf(e.nonfinite_loss_rank));
  }
  if (const Incident* earlier = EarlierIncident()) {
    e.earlier = earlier->summary;
    e.earlier_over = book_.SummaryOver(*earlier);
    e.earlier_cause = earlier->cause;
    e.earlier_rule = earlier->rule;
    e.earlier_from = earlier->opened_step;
    e.earlier_to = earlier->resolved_step.value_or(-1);
  }
  e.ops = ledger_.Evidence([this](int32_t number) {
    const RankState* rank = FindRank(number);
    return rank == nullptr ? 0 : rank->looks();
  });
  e.downstream_clean = downstream_bad_ops_ == 1 && downstream_.clean > 0;
  return e;
}

// Strikes name a device; a collective only the rank where it was seen.
void RunState::NameSuspect(const std::vector<Finding>& findings,
                           RunEvidence* e) const {
  for (const Finding& finding : findings) {
    if (finding.subject.rank < 0) continue;
    const bool strikes = finding.rule == RuleId::kSdcStrikes;
    if (!strikes &&
        (finding.rule != RuleId::kCommNonfiniteOrigin || e->suspect_rank >= 0))
      continue;
    e->suspect_rank = finding.subject.rank;
    e->suspect_place = Text(PlaceOf(e->suspect_rank));
  }
}

// What was found harmless in the end is none. What numbers say comes before
// what is said of the telemetry; one that is alerted still before those that
// are over.
const Incident* RunState::EarlierIncident() const {
  const Incident* worst = nullptr;
  for (const Incident& incident : book_.incidents()) {
    if (incident.state == AlertState::kPending ||
        incident.worst < Severity::kWarning || book_.IsPart(incident)) {
      continue;
    }
    const auto weight = [](const Incident& of) {
      return std::tuple(of.family != Family::kTelemetry,
                        of.state == AlertState::kFiring, of.worst);
    };
    if (worst == nullptr || weight(incident) > weight(*worst)) {
      worst = &incident;
    }
  }
  return worst;
}

void RunState::WriteScaler(const ScalerTracker& scaler, RunEvidence* e) {
  if (const ScalerSpec* spec = scaler.spec()) e->scaler = spec->name;
  e->floor = scaler.floor();
  e->scaler_recognised = scaler.recognised();
  e->scaler_dynamic = scaler.dynamic();
  e->in_grace = scaler.in_grace();
  e->updates_to_floor = scaler.updates_to_floor();
  e->impossible_transitions = scaler.impossible_transitions();
  e->good_steps = static_cast<uint64_t>(scaler.good_steps());
  if (scaler.highest_good_scale() > 0) {
    e->scale_worked = scaler.highest_good_scale();
  }
  if (e->scale_max) {
    e->scale_max = std::max(*e->scale_max, scaler.first_tried());
  }
  e->growth_interval = scaler.growth_interval();
}

RankPlace RunState::PlaceOf(int32_t number) const {
  const RankState* rank = FindRank(number);
  if (rank == nullptr) return {};
  const RankDescription& d = rank->description;
  std::string device = d.device;
  if (!d.device_id.empty()) {
    device += device.empty() ? d.device_id : " " + d.device_id;
  }
  return {d.host, std::move(device), d.pod};
}

Time RunState::Raise(Time time) {
  judged_at_ = std::max(judged_at_, time);
  return judged_at_;
}

}  // namespace nanwatch
