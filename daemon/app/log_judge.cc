#include "app/log_judge.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "detect/rules.h"

namespace nanwatch {
namespace {

// A batch of the engine's: larger ones gain nothing.
constexpr size_t kBatchRows = 128;
// Logs often have no clock, and none that decides: a record is a second, so
// that rules on time hold still.
constexpr Duration kRecordTime = std::chrono::seconds(1);
constexpr Time kBegin{std::chrono::seconds(1'000'000'000)};

}  // namespace

LogJudge::LogJudge(Options options)
    : options_(std::move(options)),
      engine_(Engine::EndedRuns::kStay),
      reader_(options_.format, options_.columns,
              [this](const LogRecord& record) { Take(record); }),
      now_(kBegin) {
  RulesLoaded loaded;
  loaded.rules = options_.rules.rules.empty() ? DefaultRules() : options_.rules;
  // Nobody is paged: an incident ends with its finding.
  loaded.engine.alert.hold = Duration::zero();
  engine_.Apply(now_, {.body = std::move(loaded)}, &effects_);
}

LogJudge::~LogJudge() = default;

void LogJudge::Take(const LogRecord& record) {
  if (options_.on_record) options_.on_record(record);
  if (packer_.rows() > 0 &&
      (record.rank != packed_rank_ || packer_.rows() >= kBatchRows)) {
    Send();
  }
  packed_rank_ = record.rank;
  Rank& rank = ranks_[record.rank];
  ++rank.records;
  ++records_;
  packer_.Add(record.step, kBegin + rank.records * kRecordTime,
              record.optimizer);
}

void LogJudge::Open(int32_t number) {
  OpenSessionMessage open;
  open.session = static_cast<SessionId>(number) + 1;
  open.run_id = options_.run_id;
  open.run = reader_.run();
  open.run.world_size = std::max(number + 1, 1);
  open.run.framework = reader_.recogniser().Emitter();
  open.rank.rank = number;
  open.client_time = now_;
  ranks_[number].session = open.session;
  Admit({.session = open.session, .sent = now_, .body = std::move(open)});
}

void LogJudge::Send() {
  if (packer_.rows() == 0) return;
  if (ranks_[packed_rank_].session == 0) Open(packed_rank_);
  Rank& rank = ranks_[packed_rank_];
  now_ = std::max(now_, kBegin + rank.records * kRecordTime);
  Admit({.session = rank.session,
         .sequence = ++rank.sequence,
         .sent = now_,
         .body = StepBatch{packer_.Take()}});
}

void LogJudge::Admit(ClientMessage message) {
  const Admitted admitted =
      engine_.Admit(now_, std::move(message), options_.run_id);
  for (const Event& event : admitted.events) {
    engine_.Apply(now_, event, &effects_);
    if (options_.on_notice) {
      for (const Notice& notice : effects_.notices) options_.on_notice(notice);
    }
    effects_.Clear();
  }
}

void LogJudge::Flush() {
  reader_.Flush();
  Send();
}

LogVerdict LogJudge::Finish() {
  reader_.Finish();
  Send();
  LogVerdict verdict;
  verdict.emitter = reader_.recogniser().Emitter();
  verdict.lines = reader_.recogniser().lines();
  verdict.records = records_;
  verdict.stopped = reader_.stopped();
  if (!ranks_.empty()) verdict.steps = ranks_.begin()->second.records;
  const auto snapshot = engine_.Publish(now_, 0, Snapshot());
  for (int32_t attempt = 0;; ++attempt) {
    auto view = snapshot->Find(options_.run_id, attempt);
    if (view == nullptr) break;
    verdict.worst = std::max(verdict.worst, WorstEver(*view));
    verdict.at_end = view->severity;
    verdict.attempts.push_back(std::move(view));
  }
  return verdict;
}

}  // namespace nanwatch
