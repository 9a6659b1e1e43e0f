#include "tests/property/judges.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "app/backtest.h"
#include "app/record_judge.h"
#include "app/replay.h"
#include "app/step_packer.h"
#include "base/clock.h"
#include "cli/standing.h"
#include "engine/engine.h"
#include "engine/run_state.h"
#include "history/history.h"

namespace nanwatch {
namespace {

constexpr char kRunId[] = "r";

std::string Line(int32_t attempt, const Incident& i) {
  return fmt::format("attempt {} step {} rule {} {} {} rank {} op '{}'",
                     attempt, i.opened_step, NumberOf(i.rule), Name(i.cause),
                     Name(i.worst), i.subject.rank, i.subject.op);
}

std::string Timeless(int32_t attempt, Incident incident) {
  const bool on_time = incident.family == Family::kTelemetry;
  if (on_time) incident.opened_step = -1;
  return Line(attempt, incident);
}

bool FiresToTheEnd(const Incident& incident) {
  return incident.state != AlertState::kPending && !incident.resolved_step;
}

// The exit status of `check` agrees with the condition that --json has.
void ExpectStandingOf(const RecordVerdict& verdict) {
  CheckedLog log;
  static_cast<RecordVerdict&>(log.verdict) = verdict;
  const LogStanding standing = StandingOf(log);
  EXPECT_LE(IsHealthy(standing.condition), standing.status == 0);
  EXPECT_EQ(standing.status == 2, verdict.stands == Severity::kCritical);
  // Only what is over, or left behind by a later attempt, is less than it was.
  EXPECT_LE(verdict.stands, verdict.worst);
  const Condition at_end = verdict.attempts.back()->diagnosis.condition;
  EXPECT_TRUE(verdict.stands == verdict.worst || verdict.attempts.size() > 1 ||
              at_end == Condition::kHealed);
  EXPECT_EQ(standing.status > 0, standing.severity >= Severity::kWarning);
  if (verdict.attempts.size() > 1) return;
  EXPECT_EQ(standing.condition, verdict.attempts[0]->diagnosis.condition);
}

// What is found and what is said of a run agree.
void ExpectConditionOf(const RunView& run) {
  const bool warned = WorstEver(run) >= Severity::kWarning;
  switch (run.diagnosis.condition) {
    case Condition::kNoStepYet:
    case Condition::kHealthy:
    case Condition::kNoted:
      EXPECT_FALSE(warned) << run.diagnosis.headline;
      return;
    case Condition::kHealed:
    case Condition::kHeld:
    case Condition::kTrouble:
      EXPECT_TRUE(warned) << run.diagnosis.headline;
      return;
    default:
      return;
  }
}

Attempts AttemptsOf(const Snapshot& snapshot) {
  Attempts attempts;
  while (auto view = snapshot.Find(kRunId, attempts.size())) {
    ExpectConditionOf(*view);
    attempts.push_back(std::move(view));
  }
  return attempts;
}

RulesLoaded RulesHere(bool times_are_real) {
  RulesLoaded loaded{RulesOfLogs(), {}};
  loaded.engine.alert.hold = Duration::zero();
  loaded.engine.ended_run_leaves_after = kNever;
  loaded.engine.times_are_real = times_are_real;
  return loaded;
}

class HistoryOnDisk {
 public:
  HistoryOnDisk() {
    std::string name = ::testing::TempDir() + "one-verdict-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~HistoryOnDisk() { std::filesystem::remove_all(directory_); }

  Said Replayed(const Events& events) {
    HistoryOptions options;
    options.path = directory_ + "/history.db";
    options.own_thread = false;
    ManualClock clock{kBegin};
    OpenReport report;
    auto opened = History::Open(options, clock, &report);
    EXPECT_TRUE(opened.ok()) << opened.error();
    for (const StampedEvent& event : events) {
      EXPECT_TRUE((*opened)->Append(event.now, std::span(&event.event, 1)));
    }
    (*opened)->RunOnce(Duration(0));
    (*opened)->Close();
    auto reader = HistoryReader::Open(options.path);
    EXPECT_TRUE(reader.ok()) << reader.error();
    ReadingEngine engine;
    const auto outcome = ReplayAll(reader->get(), &engine);
    EXPECT_TRUE(outcome.ok()) << outcome.error();
    EXPECT_EQ(outcome->events, events.size());
    EXPECT_EQ(outcome->damaged, 0u);
    return SaidOf(
        AttemptsOf(*engine.engine().Publish(outcome->newest, 0, Snapshot())));
  }

 private:
  std::string directory_;
};

// Messages of clients, a record each, as they come; then each rank closes.
class Daemon {
 public:
  explicit Daemon(const Recording& recording) : recording_(recording) {
    Apply({.body = RulesHere(/*times_are_real=*/true)});
  }

  Said Says(Events* events) {
    for (const Taken& taken : recording_.taken) Take(taken);
    for (const auto& [number, rank] : ranks_) {
      Send(number, ranks_[number].sequence + 1, CloseMessage{});
    }
    *events = events_;
    return SaidOf(AttemptsOf(*engine_.Publish(now_, 0, Snapshot())));
  }

 private:
  struct Rank {
    int64_t records = 0;
    Sequence sequence = 0;
  };

  void Take(const Taken& taken) {
    Rank& rank = ranks_[taken.rank];
    if (rank.records == 0) {
      OpenSessionMessage open;
      open.session = static_cast<SessionId>(taken.rank) + 1;
      open.run_id = kRunId;
      open.run = recording_.run;
      open.run.world_size = std::max(open.run.world_size, taken.rank + 1);
      open.rank.rank = taken.rank;
      open.client_time = now_;
      Send(taken.rank, 0, std::move(open));
    }
    StepPacker packer;
    const Time time = kBegin + ++rank.records * std::chrono::seconds(1);
    packer.Add(taken.record, time, taken.optimizer);
    now_ = std::max(now_, time);
    Send(taken.rank, ++rank.sequence, StepBatch{packer.Take()});
  }

  void Send(int32_t rank, Sequence sequence,
            decltype(ClientMessage::body) body) {
    const Admitted admitted =
        engine_.Admit(now_,
                      {.session = static_cast<SessionId>(rank) + 1,
                       .sequence = sequence,
                       .sent = now_,
                       .body = std::move(body)},
                      kRunId);
    EXPECT_FALSE(admitted.refused);
    for (const Event& event : admitted.events) Apply(event);
  }

  void Apply(const Event& event) {
    events_.push_back({events_.size() + 1, now_, event});
    engine_.Apply(now_, event, &effects_);
  }

  const Recording& recording_;
  Engine engine_;
  Effects effects_;
  std::map<int32_t, Rank> ranks_;
  Time now_ = kBegin;
  Events events_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Said& said) {
  out << Name(said.worst) << ", at the end " << Name(said.at_end) << ", "
      << Name(said.condition)
      << (said.to_its_end ? "" : ", not judged to its end");
  for (const std::string& incident : said.incidents) out << "\n  " << incident;
  return out;
}

Said SaidOf(const Attempts& attempts) {
  Said said;
  for (const auto& attempt : attempts) {
    said.worst = std::max(said.worst, WorstEver(*attempt));
    said.to_its_end &= attempt->records_ended.has_value();
  }
  said.condition = attempts.back()->diagnosis.condition;
  for (const auto& attempt : EachTroubleOnce(attempts)) {
    for (const Incident& incident : attempt->incidents) {
      said.incidents.push_back(Line(attempt->key.attempt, incident));
      said.timeless.push_back(Timeless(attempt->key.attempt, incident));
    }
  }
  for (const Incident& incident : attempts.back()->incidents) {
    if (!FiresToTheEnd(incident)) continue;
    said.at_end = std::max(said.at_end, incident.severity);
  }
  std::sort(said.incidents.begin(), said.incidents.end());
  std::sort(said.timeless.begin(), said.timeless.end());
  return said;
}

Said CheckSays(const Recording& recording, Events* events) {
  RecordJudge judge({.run_id = kRunId,
                     .rules = RulesOfLogs(),
                     .describe = [&](int32_t) { return recording.run; },
                     .on_notice = {},
                     .on_event =
                         [&](Time now, const Event& event) {
                           events->push_back({events->size() + 1, now, event});
                         }});
  for (const Taken& taken : recording.taken) {
    judge.Take(taken.rank, taken.optimizer, taken.record);
  }
  const RecordVerdict verdict = judge.Conclude();
  EXPECT_EQ(verdict.refused, "");
  ExpectStandingOf(verdict);
  Said said = SaidOf(verdict.attempts);
  EXPECT_GE(verdict.worst, said.worst);
  said.worst = verdict.worst;
  EXPECT_EQ(said.at_end, verdict.at_end);
  return said;
}

Said BacktestSays(const Events& events, const Said& like) {
  Backtest backtest(RulesOfLogs());
  for (const StampedEvent& event : events) {
    backtest.Take(event.now, event.event);
  }
  const BacktestOutcome outcome = backtest.Finish();
  Said said;
  said.at_end = like.at_end;  // it does not say these two
  said.condition = like.condition;
  for (const BacktestedRun& run : outcome.runs) {
    said.to_its_end &= run.judged_to_its_end;
  }
  for (const ToldIncident& told : outcome.after) {
    said.worst = std::max(said.worst, told.incident.worst);
    said.incidents.push_back(Line(told.run.attempt, told.incident));
    said.timeless.push_back(Timeless(told.run.attempt, told.incident));
  }
  std::sort(said.incidents.begin(), said.incidents.end());
  std::sort(said.timeless.begin(), said.timeless.end());
  return said;
}

Said ReplaySays(const Events& events) {
  return HistoryOnDisk().Replayed(events);
}

Said DaemonSays(const Recording& recording, Events* events) {
  return Daemon(recording).Says(events);
}

}  // namespace nanwatch
