#include "app/record_judge.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "detect/all_rules.h"
#include "model/steps_between.h"

namespace nanwatch {
namespace {

// A batch of the engine's: larger ones gain nothing.
constexpr size_t kBatchRows = 128;
// Logs often have no clock, and none that decides: a record is a second, so
// that rules on time hold still.
constexpr Duration kRecordTime = std::chrono::seconds(1);
constexpr Time kBegin{std::chrono::seconds(1'000'000'000)};

}  // namespace

RulesInForce RulesOfLogs() {
  RulesInForce rules = DefaultRules();
  rules.rules.at("telemetry_gap").enabled = false;
  return rules;
}

RecordJudge::RecordJudge(Options options)
    : options_(std::move(options)), now_(kBegin) {
  RulesLoaded loaded;
  loaded.rules = options_.rules.rules.empty() ? DefaultRules() : options_.rules;
  // Nobody is paged: an incident ends with its finding.
  loaded.engine.alert.hold = Duration::zero();
  loaded.engine.ended_run_leaves_after = kNever;
  loaded.engine.times_are_real = false;
  Apply({.body = std::move(loaded)});
}

RecordJudge::~RecordJudge() = default;

void RecordJudge::Take(int32_t number, std::string_view optimizer,
                       const StepRecord& step) {
  Rank& rank = ranks_[number];
  auto own = rank.optimizers.find(optimizer);
  if (own == rank.optimizers.end()) {
    own = rank.optimizers.try_emplace(std::string(optimizer)).first;
    own->second.newest = step.step;
  }
  // A batch whose steps go back often would be refused.
  if (packer_.rows() > 0 &&
      (number != packed_rank_ || packer_.rows() >= kBatchRows ||
       step.step < own->second.newest)) {
    Judge();
  }
  own->second.forth += std::max<int64_t>(0, step.step - own->second.newest);
  own->second.newest = step.step;
  ++own->second.records;
  packed_rank_ = number;
  ++rank.records;
  ++records_;
  packer_.Add(step, kBegin + rank.records * kRecordTime, optimizer);
}

void RecordJudge::Open(int32_t number) {
  const SessionId session = static_cast<SessionId>(number) + 1;
  ranks_[number].session = session;
  OpenSessionMessage open;
  open.session = session;
  open.run_id = options_.run_id;
  open.run = options_.describe(number);
  framework_ = open.run.framework;
  settings_ = open.run.settings;
  open.run.world_size = std::max(open.run.world_size, number + 1);
  open.rank.rank = number;
  open.client_time = now_;
  Admit({.session = session, .sent = now_, .body = std::move(open)});
}

// The library that scales may print its first line long after the program, and
// what a log says of the run may stand in any line.
bool RecordJudge::DescribeAgain() {
  RunDescription run = options_.describe(packed_rank_);
  if (run.framework == framework_ && run.settings == settings_) {
    return false;
  }
  framework_ = run.framework;
  settings_ = run.settings;
  Event event;
  event.run = run_;
  event.body = RunOpened{std::move(run), "recognised"};
  Apply(event);
  return true;
}

void RecordJudge::Judge() {
  if (packer_.rows() == 0) return;
  if (ranks_[packed_rank_].session == 0) {
    Open(packed_rank_);
  } else {
    DescribeAgain();
  }
  Rank& rank = ranks_[packed_rank_];
  now_ = std::max(now_, kBegin + rank.records * kRecordTime);
  Admit({.session = rank.session,
         .sequence = ++rank.sequence,
         .sent = now_,
         .body = StepBatch{packer_.Take()}});
}

void RecordJudge::NameOps(int32_t rank, OpNames names) {
  Judge();
  if (ranks_[rank].session == 0) Open(rank);
  Admit({.session = ranks_[rank].session,
         .sequence = ++ranks_[rank].sequence,
         .sent = now_,
         .body = OpNamesAdded{std::move(names)}});
}

void RecordJudge::TakeOps(int32_t rank, OpColumns columns) {
  Judge();
  for (OpGroup& group : columns.groups) group.time = now_;
  Admit({.session = ranks_[rank].session,
         .sequence = ++ranks_[rank].sequence,
         .sent = now_,
         .body = OpBatch{std::move(columns)}});
}

void RecordJudge::Admit(ClientMessage message) {
  const Admitted admitted =
      engine_.Admit(now_, std::move(message), options_.run_id);
  if (admitted.refused && refused_.empty()) {
    refused_ = admitted.refused->message;
  }
  for (const Event& event : admitted.events) {
    const bool opens = std::holds_alternative<RunOpened>(event.body);
    const bool first = opens && run_.run_id.empty();
    if (opens) run_ = event.run;
    Apply(event);
    if (first && options_.benchmark != nullptr) {
      Apply({.run = run_, .body = BenchmarkSet{options_.benchmark, ""}});
    }
  }
}

void RecordJudge::Apply(const Event& event) {
  if (options_.on_event) options_.on_event(now_, event);
  engine_.Apply(now_, event, &effects_);
  TellNotices();
}

void RecordJudge::TellNotices() {
  if (options_.on_notice) {
    for (const Notice& notice : effects_.notices) options_.on_notice(notice);
  }
  effects_.Clear();
}

// The rank's program broke off, and the next tick of the clock finds it so.
void RecordJudge::EndRank(const RecordsEnded& ended,
                          std::optional<int32_t> rank) {
  if (!ended.end || ranks_.empty()) return;
  Event event;
  event.run = run_;
  event.rank = rank && ranks_.contains(*rank) ? *rank : ranks_.begin()->first;
  event.body = ended;
  Apply(event);
  now_ += 2 * kRecordTime;
}

RecordVerdict RecordJudge::Conclude(const RecordsEnded& ended,
                                    std::optional<int32_t> rank) {
  Judge();
  // What the last lines say of the run, and the clock's next tick judges it.
  if (!run_.run_id.empty() && DescribeAgain()) now_ += 2 * kRecordTime;
  EndRank(ended, rank);
  for (const RunKey& run : engine_.LiveRuns()) {
    Event event;
    event.run = run;
    event.body = run == run_ ? ended : RecordsEnded();
    Apply(event);
  }
  RecordVerdict verdict;
  verdict.records = records_;
  verdict.refused = refused_;
  if (!ranks_.empty()) {
    for (const auto& [name, own] : ranks_.begin()->second.optimizers) {
      if (own.records <= verdict.steps) continue;
      verdict.steps = own.records;
      verdict.steps_between = HasStepsBetween(own.forth, own.records);
    }
  }
  const auto snapshot = engine_.Publish(now_, 0, Snapshot());
  for (int32_t attempt = 0;; ++attempt) {
    const auto view = snapshot->Find(options_.run_id, attempt);
    if (view == nullptr) break;
    verdict.worst = std::max(verdict.worst, WorstEver(*view));
    verdict.at_end = view->severity;
    verdict.attempts.push_back(view);
  }
  verdict.stands = WorstOf(verdict.attempts);
  verdict.attempts = EachTroubleOnce(verdict.attempts);
  return verdict;
}

}  // namespace nanwatch
