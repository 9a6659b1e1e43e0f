// RunState: everything that the engine remembers of one run attempt, and what
// it does with the run's events: align, detect, diagnose, alert.
//
// One class in several files, one for each thing that can happen to a run:
//   run_life.cc        ranks open, are lost, close; the run ends
//   run_steps.cc       step records
//   run_ops.cc         op statuses
//   run_layers.cc      loss scales of layers
//   run_benchmark.cc   losses of another run
//   run_end.cc         no record follows
//   run_timers.cc      time passes
//   run_judgement.cc   findings -> diagnosis -> incidents -> notices
//   run_requests.cc    what the trainers are asked
//   run_view.cc        what is published
//   run_checkpoint.cc  to bytes and back

#ifndef NANWATCH_ENGINE_RUN_STATE_H_
#define NANWATCH_ENGINE_RUN_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/incident_book.h"
#include "detect/rules.h"
#include "detect/step_logs.h"
#include "diagnose/diagnose.h"
#include "engine/agreement_state.h"
#include "engine/asked.h"
#include "engine/bad_loss.h"
#include "engine/batch_watch.h"
#include "engine/bench_watch.h"
#include "engine/engine.h"
#include "engine/finding_board.h"
#include "engine/holdings.h"
#include "engine/op_ledger.h"
#include "engine/rank_state.h"
#include "model/snapshot.h"

namespace nanwatch {

// What all runs share. `options` and `tables` change with RulesLoaded.
struct EngineShared {
  EngineOptions options;
  std::unique_ptr<const RuleTables> tables;
  EngineStats stats;
  Holdings all;                                         // of all runs
  std::map<std::string, Holdings, std::less<>> owners;  // of each owner's
  size_t open_ranks = 0;                                // of all.ranks
  // Scratch, kept to spare the allocation.
  RowMarks marks;
  StepLogs logs;
  std::vector<RankPulse> pulses;
};

// Each returns the bytes that a run's entry for it takes, near enough.
size_t BytesHeldFor(const OpName& op);
size_t BytesHeldFor(const RunDescription& run);
size_t BytesHeldFor(const RankDescription& rank);

class RunState {
 public:
  RunState(RunKey key, uint32_t slot, EngineShared* shared);
  ~RunState();
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  const RunKey& key() const { return key_; }
  uint32_t slot() const { return slot_; }
  // Returns what TimerQueue orders by: the same after every replay.
  uint64_t timer_order() const { return timer_order_; }
  bool closed() const { return ended_.has_value(); }
  // True when nobody has reported since it was said that no record follows.
  bool records_ended() const { return records_ended_.has_value(); }
  // True when all ranks closed in order: one may still join.
  bool ended_in_order() const { return ended_in_order_; }
  // Returns why the run ends if `rank` does, by `end` (absent: in order);
  // absent: all ranks that ended did in order.
  std::optional<RankEnd> EndWith(const RankState& rank,
                                 const std::optional<ProgramEnd>& end) const;
  const RunDescription& description() const { return description_; }
  // Returns the rank; null where it never opened here.
  RankState* FindRank(int32_t rank) const;
  const std::vector<std::unique_ptr<RankState>>& ranks() const {
    return ranks_;
  }
  const OpName& NameOf(const RankState& rank, uint32_t op) const {
    return op_names_[rank.ops.name(op)];
  }
  const std::string& OptimizerName(const OptimizerTrack& track) const {
    return optimizers_[track.name];
  }
  // Counts step records and op statuses.
  uint64_t Judged() const { return totals_.steps + totals_.op_statuses; }
  // Writes what the attempt after this one shall know of it.
  void WriteBefore(RunOpened* opened) const;
  Time opened() const { return opened_; }
  int OpenRanks() const { return open_ranks_; }
  int LostRanks() const { return lost_ranks_; }

  // --- Events. `now` is the engine's.
  void Open(Time now, const RunOpened& opened);
  // Takes over from the attempt before, which ended.
  void Follow(Time now, const RunState& before);
  RankState* OpenRank(Time now, const RankOpened& opened, Effects* effects);
  // Returns a rank of which only records are left of what was said.
  RankState* AssumeRank(Time now, int32_t rank);
  void AddOps(RankState* rank, const OpNames& names);
  void TakeSteps(Time now, RankState* rank, const StepColumns& columns,
                 Effects* effects);
  void TakeOps(Time now, RankState* rank, const OpColumns& columns,
               Effects* effects);
  void Drop(RankState* rank, const Dropped& dropped);
  void LoseRank(Time now, RankState* rank, Effects* effects);
  void CloseRank(Time now, RankState* rank, Effects* effects);
  // Takes the rank out: its session goes on in another attempt.
  void LeaveRank(Time now, RankState* rank, Effects* effects);
  // Judges what stands, as no record follows of `rank`; null: of the run.
  void EndRecords(Time now, RankState* rank, const RecordsEnded& ended,
                  Effects* effects);
  void Close(Time now, const RunClosed& how, Effects* effects);
  void Annotate(Time now, const Annotation& annotation, Effects* effects);
  // `effects`: null where nothing can have been found yet.
  void SetBenchmark(Time now, const BenchmarkSet& set, Effects* effects);
  // Asks a rank that has just opened what the others were asked before.
  void RemindToStop(const RankState& rank, Effects* effects) const;
  // Returns nullopt where the run was not asked to stop.
  std::optional<Request> StopFor(const RankState& rank) const;
  // Skips the time in which nobody could be heard, up to `now`. Where that is
  // before what was, since a clock was wrong: takes back what is of the future.
  void SkipTo(Time now);
  // Gives a lost run that much longer to come back.
  void PutOff(Duration skipped);

  // Takes over thresholds and options that changed: what a switched-off rule
  // found goes, holds and waits that begin from here on are as long as they are
  // now.
  void RulesChanged(Time now, Effects* effects);

  // --- Time. Fires what is due at `now`, which is not before NextTimer();
  // nothing happens before `until`.
  void Advance(Time now, Time until, Effects* effects);
  std::optional<Time> NextTimer() const;
  // Something was said to it: it is looked at again within a second.
  void Rouse(Time now);
  // True when it ended long enough ago to be forgotten.
  bool Left(Time now) const;

  // --- Publishing.
  bool dirty() const { return dirty_; }
  std::shared_ptr<const RunView> View();

  // --- Checkpoint.
  std::string Save() const;
  // Returns false where it cannot: the run must not be used then.
  bool Load(std::string_view state);

 private:
  template <typename A>
  void AllFields(A& archive);

  // run_steps.cc
  OptimizerTrack* TrackOf(RankState* rank, const std::string& optimizer);
  FindingKey KeyOf(const RankState& rank, const OptimizerTrack& track,
                   size_t rule) const;
  void TakeStep(RankState* rank, OptimizerTrack* track,
                const StepRecord& record, const RecordLogs& logs,
                Effects* effects);
  static void Remember(RankState* rank, const StepRecord& record, Fate fate);
  void CountStep(int32_t rank, const StepRecord& record, bool overflow,
                 Fate fate);
  void Align(const RankState& rank, const OptimizerTrack& track, Place was,
             const StepRecord& record, const StepOps& ops);
  void JudgeAligned(Time now, uint32_t group);
  // Returns what AlignedContext::differing_op says.
  std::string_view DifferingOp(const AlignedStep& step) const;
  // Returns what the digests of the step stand for.
  ReplicaKind KindOf(const AlignedStep& step) const;
  uint32_t GroupOf(const RankState& rank, uint32_t optimizer);
  std::vector<Place> OpenPlaces(const AgreementState& group) const;
  // Returns where the rank's optimizer of the group stands.
  static Place PlaceIn(const AgreementState& group, const RankState& rank);
  // An open rank is among those that must agree from here on, or no more.
  void Join(const RankState& rank);
  void Leave(const RankState& rank);
  // run_ops.cc
  // Judges `count` pending statuses with the record of their step (null: there
  // is none) and forgets them.
  void JudgeOps(RankState* rank, size_t count, const ScalerTracker& scaler,
                const StepRecord* record);
  // Returns that of the update of `record`; null: there is none.
  OpUpdate::Outcome OutcomeOf(const StepRecord* record, Fate fate) const;
  void JudgeOp(RankState* rank, const PendingOp& op,
               const ScalerTracker& scaler, const StepRecord* record);
  void NoteDownstream(const RankState& rank, int64_t step, uint32_t bad_ops);
  // Judges those of steps before `step`, without step records.
  void JudgeWaitingOps(RankState* rank, int64_t step, Effects* effects);
  uint32_t InternOp(const OpName& op);
  // run_layers.cc
  // REQUIRES: the record has layer-wise scales.
  StepLayers TakeLayers(RankState* rank, const StepRecord& record);
  // Points to a step's gradients; where layers have scales of their own, to
  // `common`: the same as if all had one.
  void PointToGradients(RankState* rank, const StepGradients& gradients,
                        std::unique_ptr<StepGradients>* common,
                        StepContext* context);
  // Takes in what gradients say of the scales that suit their layers; where
  // these have scales of their own, their rules judge them.
  void JudgeLayers(RankState* rank, const StepRecord& record,
                   const ScalerTracker& scaler, bool forward_bad);
  // run_benchmark.cc
  void JudgeBenchmark(const RankState& rank, const StepRecord& record);
  // run_bytes.cc
  void Hold(const Holdings& more);
  void HoldOpBytes(size_t bytes) { Hold({.op_bytes = bytes}); }
  // Of descriptions: `bytes` now, `before` until now.
  void HoldRunBytes(size_t bytes, size_t before = 0) {
    Hold({.run_bytes = bytes - before});
  }
  // From here on what is held counts as the owner's.
  void CountForOwner();
  void CountForNobody();
  void IndexOp(size_t index);
  // run_judgement.cc
  // Puts (or, with kNone, removes) what rule `key.rule` of `rules` says now.
  template <typename Rules>
  void Changed(const FindingKey& key, const Rules& rules, Finding finding) {
    rules.Describe(key.rule, &finding);
    if (rules.severity(key.rule) == Severity::kNone) {
      if (board_.Find(key) != nullptr) book_.NoteLast(finding);
      Remove(key);
      return;
    }
    Put(key, std::move(finding));
  }
  void Put(const FindingKey& key, Finding finding);
  void Remove(const FindingKey& key);
  Finding Blank(const Subject& subject, int64_t step, Time time) const;
  Subject SubjectOf(const RankState& rank, const OptimizerTrack& track) const;
  // Renews the numbers in the findings of a rank, as of its record of `time`.
  void Refresh(RankState* rank, Time time);
  void Judge(Time time, int64_t step, Effects* effects);
  void JudgeIfChanged(Time time, int64_t step, Effects* effects);
  // Judges what changed, but thousands of ranks that find the same at one step
  // together: the first, once for each sixteenth of what is found already, and
  // what is left before the next step, or at the next tick. What is worse than
  // all before is judged at once.
  void JudgeIfDue(Time time, int64_t step, Effects* effects);
  // Judges what a record of `rank` changed, and what is due to be told anew.
  void JudgeAfter(RankState* rank, const StepRecord& record, Effects* effects);
  Diagnosis Diagnosed(const std::vector<Finding>& findings) const;
  void Tell(std::vector<Incident>* changed, Effects* effects);
  void ForgetTold();
  RunEvidence Evidence() const;
  std::vector<OutlierBatches> Outliers() const;
  // Adds the data that causes began with, where they are told.
  void NameSamples(Diagnosis* diagnosis) const;
  void NameSuspect(const std::vector<Finding>& findings,
                   RunEvidence* evidence) const;
  // Returns the highest of all; nullopt where no good step had a scale.
  std::optional<double> HighestGoodScale() const;
  // Returns that of the lowest rank with a loss; nullopt where it is not known.
  std::optional<LossReached> ReachedLoss() const;
  static void WriteScaler(const ScalerTracker& scaler, RunEvidence* evidence);
  // Returns null where none fired.
  const Incident* EarlierIncident() const;
  RankPlace PlaceOf(int32_t rank) const;
  // Returns the lowest rank with records; null where none has any.
  const RankState* Lowest() const;
  // Returns the (rank, optimizer) that overflows most, or has the lowest scale;
  // null without records, or without a scale where one is asked for.
  const OptimizerTrack* WorstTrack(bool with_scale) const;
  // run_end.cc
  void JudgeEnd(RankState* rank);
  bool gave_up() const;
  void GiveUp(Time now, Effects* effects);
  void GoOn();
  // Returns what RunOpened::troubles_before says.
  std::vector<PastTrouble> Troubles() const;
  // Diagnoses as of the newest records, where old findings wait else.
  void Renew(Time now, Effects* effects);
  // run_life.cc
  RankState* AddRank(const RankDescription& description);
  void Learn(const RunDescription& description);
  void Learn(const StepColumns& columns);
  void SetLife(RankState* rank, LifeState life);
  // Counts a rank that is in this state, or (-1) is so no more.
  void CountLife(LifeState life, int more);
  void EndRank(Time now, RankState* rank, Effects* effects);
  void ForgetLeft(int64_t step);
  void NoticeSilence(Time now);
  void Touch(const RankState& rank);
  void Reindex();
  // run_timers.cc
  // Ticks that pass until a record is taken for the last one of now; see
  // heard_.
  static constexpr uint8_t kPause = 2;
  void Tick(Time now, Effects* effects);
  bool TimeToRenew(Time now);
  void JudgeTime(Time now);
  // Returns `time`, or the newest one given to the book: that never falls.
  Time Raise(Time time);
  Duration UntilNextTick(Time now) const;
  void NotAfter(Time now);
  // run_requests.cc
  void Ask(const Finding& opened, int64_t step, Effects* effects);
  bool WantsDetail(int64_t step) const;
  std::vector<const RankState*> WhomToAsk(int32_t origin) const;
  std::vector<uint32_t> OpsToAsk(const RankState& rank) const;
  void AskToStop(const std::string& reason, Effects* effects);
  // Asks to stop if stop_on says so, and nobody was asked because of it before.
  void StopOn(const Incident& incident, Effects* effects);
  // run_view.cc
  RankView ViewOf(const RankState& rank) const;
  ScalerView ViewOfScaler() const;
  std::optional<LayerScalesView> ViewOfLayers() const;
  // Returns what all ranks say of their layers' scales; null: nothing.
  std::shared_ptr<const LayerRangesView> ViewOfRanges() const;
  void WriteLatest(RunView* view) const;

  EngineShared* const shared_;
  const uint32_t slot_;

  // --- State: in every checkpoint.
  RunKey key_;
  const uint64_t timer_order_;
  RunDescription description_;
  double good_scale_before_ = 0;  // of the attempt before; 0: not known
  std::optional<LossReached> loss_before_;
  BatchWatch batches_;
  uint64_t updates_before_ = 0;  // of the optimizer, in all attempts before
  std::vector<PastTrouble> troubles_before_;  // of all attempts before
  Time opened_{};
  std::optional<Time> ended_;
  std::string end_reason_;
  bool ended_in_order_ = false;
  std::optional<RecordsEnded> records_ended_;
  // Of the rank that says best why; absent: all that ended did in order.
  std::optional<RankEnd> rank_end_;
  std::optional<Time> lost_since_;  // no rank is open, one at least is lost
  std::optional<Time> close_due_;   // when to ask for the close (again)
  Time awake_since_{};              // of the daemon: silence counts from here
  Time last_record_{};
  Time judged_at_{};  // newest time given to the book
  int64_t last_step_ = INT64_MIN;
  int64_t left_step_ = INT64_MAX;  // the lowest last one of ranks that left
  std::optional<int64_t> judged_since_;  // where history began later
  bool assumed_ = false;  // its opening was not heard: history began later
  bool begun_ = false;    // its opening was heard before any record
  StepTotals totals_;
  int64_t first_overflow_step_ = -1;
  int64_t last_overflow_step_ = -1;
  int64_t first_good_step_ = -1;
  BadLoss bad_loss_;       // of all ranks
  ForwardSum downstream_;  // of the newest step with a bad op
  uint32_t downstream_bad_ops_ = 0;
  int32_t downstream_rank_ = -1;
  std::vector<std::unique_ptr<RankState>> ranks_;  // by rank number
  std::vector<std::string> optimizers_;
  std::vector<AgreementState> groups_;
  BenchWatch bench_;
  TimeRules time_rules_;
  std::vector<OpName> op_names_;
  OpLedger ledger_;
  FindingBoard board_;
  Diagnosis diagnosis_;
  IncidentBook book_;
  Asked asked_;
  Time next_tick_{};
  uint8_t heard_ = 0;  // ticks until the records are taken to pause; 0: they do
  std::optional<std::string> stop_requested_;
  std::array<uint64_t, kFamilies> detections_{};
  std::map<uint64_t, AlertState> told_;  // newest state sent, by incident
  // What no Judge has seen yet: changes of findings and evidence, and findings
  // that opened. Then what it saw: the run's newest step, its worst finding.
  size_t changes_ = 0;
  std::vector<FindingKey> fresh_;
  int64_t judged_step_ = INT64_MIN;
  Severity judged_worst_ = Severity::kNone;

  // --- Not state: made anew from it.
  std::map<std::string, uint32_t> op_index_;  // by the op's bytes
  std::vector<uint64_t> name_hashes_;         // of op_names_
  Holdings held_{.runs = 1};
  Holdings* owners_ = nullptr;  // of whom held_ is a part; null: nobody's yet
  bool dirty_ = true;
  int open_ranks_ = 0;
  int lost_ranks_ = 0;
  size_t misplaced_ = SIZE_MAX;  // from there on ranks have another index
  std::vector<std::shared_ptr<const RankBlock>> blocks_;
  std::shared_ptr<const LayerRangesView> ranges_;  // as published
  Time ranges_of_{};                               // the newest record then
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RUN_STATE_H_
