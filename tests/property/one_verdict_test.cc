// The same records, the same verdict: of `check` (RecordJudge, the reference),
// of `backtest` and `replay` of what it recorded, of a daemon that hears the
// records one by one as they come and is closed in order, and of a replay and a
// backtest of that daemon's history; of `tail`, whose lines come in pieces.
//
// What cannot be compared, and why:
//   - Op statuses and replica digests: a log has none, so all hear the step
//     records of a scenario alone.
//   - Rules on time, and holds: a log has no clock. All have RulesOfLogs() and
//     no hold; a record is a second. Of what the daemon finds of the time
//     itself the step is not compared: `check` lives through the last second
//     alone of those that pass between two batches.
//   - What fires at the end of a run of several ranks: they leave a daemon one
//     after another, and what only one that left had found is over by then.
//   - That incidents are resolved: an orderly close resolves what fires, with
//     kAllRanksClosed. What fired until then fires at the end for `check`.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/backtest.h"
#include "app/log_judge.h"
#include "app/record_judge.h"
#include "app/replay.h"
#include "app/step_packer.h"
#include "base/clock.h"
#include "cli/tail_judge.h"
#include "engine/engine.h"
#include "engine/run_state.h"
#include "history/history.h"
#include "tests/generate/healthy.h"
#include "tests/generate/trouble.h"
#include "tests/golden/scenario.h"

namespace nanwatch {
namespace {

constexpr char kRunId[] = "r";
constexpr Time kBegin{std::chrono::seconds(1'000'000'000)};

// Step records of a run, in the order in which they are heard.
struct Taken {
  int32_t rank = 0;
  std::string optimizer;
  StepRecord record;
};
struct Recording {
  std::string name;
  RunDescription run;
  int32_t ranks = 1;
  std::vector<Taken> taken;
};
using Events = std::vector<StampedEvent>;
using Attempts = std::vector<std::shared_ptr<const RunView>>;

struct Said {
  Severity worst = Severity::kNone;
  Severity at_end = Severity::kNone;
  bool to_its_end = true;
  std::vector<std::string> incidents;
  std::vector<std::string> timeless;  // without steps that the clock says
  bool operator==(const Said&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Said& said) {
  out << Name(said.worst) << ", at the end " << Name(said.at_end)
      << (said.to_its_end ? "" : ", not judged to its end");
  for (const std::string& incident : said.incidents) out << "\n  " << incident;
  return out;
}

std::string Line(int32_t attempt, const Incident& i) {
  return fmt::format("attempt {} step {} rule {} {} {} rank {} op '{}'",
                     attempt, i.opened_step, i.rule, Name(i.cause),
                     Name(i.worst), i.subject.rank, i.subject.op);
}

std::string Timeless(int32_t attempt, Incident incident) {
  const bool on_time = incident.family == Family::kTelemetry;
  if (on_time) incident.opened_step = -1;
  return Line(attempt, incident);
}

bool FiresToTheEnd(const Incident& incident) {
  return incident.state == AlertState::kFiring ||
         incident.resolved_reason == kAllRanksClosed;
}

Said SaidOf(const Attempts& attempts) {
  Said said;
  for (const auto& attempt : attempts) {
    said.worst = std::max(said.worst, WorstEver(*attempt));
    said.to_its_end &= attempt->records_ended.has_value();
  }
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

Attempts AttemptsOf(const Snapshot& snapshot) {
  Attempts attempts;
  while (auto view = snapshot.Find(kRunId, attempts.size())) {
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

// ------------------------------------------------------------- who is asked

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
  said.at_end = like.at_end;  // it does not say
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
      Send(number, ranks_[number].sequence + 1, RankClosed{});
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

void ExpectOneVerdict(const Recording& recording) {
  SCOPED_TRACE(recording.name);
  Events events;
  const Said check = CheckSays(recording, &events);
  EXPECT_TRUE(check.to_its_end);
  EXPECT_EQ(BacktestSays(events, check), check) << "backtest of check";
  EXPECT_EQ(HistoryOnDisk().Replayed(events), check) << "replay of check";
  Events lived;
  const Said daemon = Daemon(recording).Says(&lived);
  Said as_check = daemon;
  as_check.incidents =
      daemon.timeless == check.timeless ? check.incidents : daemon.incidents;
  as_check.timeless = check.timeless;
  if (recording.ranks > 1) as_check.at_end = check.at_end;
  EXPECT_EQ(as_check, check) << "the daemon";
  EXPECT_EQ(HistoryOnDisk().Replayed(lived), daemon) << "replay of the daemon";
  EXPECT_EQ(BacktestSays(lived, daemon), daemon) << "backtest of the daemon";
}

// ------------------------------------------------------------- golden runs

// `columns` alone say what a row is.
void Append(const StepColumns& columns, int32_t rank,
            std::vector<Taken>* taken) {
  StepReader reader(columns);
  StepRecord record;
  while (reader.Next(&record)) {
    record.replica_digest.reset();
    record.float_status = nullptr;
    record.layer_scales = {};
    taken->push_back({rank, "", record});
  }
}

Recording RecordingOf(const std::string& name, const Scenario& scenario) {
  Recording recording;
  recording.name = name;
  recording.run = scenario.run;
  recording.ranks = scenario.ranks;
  size_t most = 0;
  for (const auto& rows : scenario.rows) most = std::max(most, rows.size());
  for (size_t i = 0; i < most; ++i) {
    for (size_t rank = 0; rank < scenario.rows.size(); ++rank) {
      if (i >= scenario.rows[rank].size()) continue;
      Append(Columns({scenario.rows[rank][i]}, kBegin),
             static_cast<int32_t>(rank), &recording.taken);
    }
  }
  return recording;
}

TEST(OneVerdictTest, OfGoldenScenarios) {
  int played = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_DIR)) {
    if (entry.path().extension() != ".scenario") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const auto scenario = ParseScenario(text.str());
    ASSERT_TRUE(scenario.ok()) << entry.path() << scenario.error();
    const Recording recording = RecordingOf(entry.path().stem(), *scenario);
    if (recording.taken.empty()) continue;
    ExpectOneVerdict(recording);
    ++played;
  }
  EXPECT_GT(played, 100);
}

// --------------------------------------------------------- generated runs

Recording RecordingOf(const generate::Story& story) {
  Recording recording;
  recording.ranks = story.setup.ranks;
  recording.run.world_size = story.setup.ranks;
  recording.run.framework = story.setup.framework;
  recording.run.precision = story.setup.precision;
  for (const generate::Moment& moment : story.moments) {
    for (const generate::Attempt& a : moment.attempts) {
      Row row;
      row.step = a.step;
      row.scale = a.scale;
      row.loss = a.loss;
      row.grad_norm = a.grad_norm;
      row.overflow = a.overflow;
      row.skipped = a.skipped;
      row.more[static_cast<size_t>(StepField::kLearningRate)] = a.learning_rate;
      Append(Columns({row}, kBegin), a.rank, &recording.taken);
      if (story.setup.optimizers.empty()) continue;
      recording.taken.back().optimizer = story.setup.optimizers[a.optimizer];
    }
  }
  return recording;
}

TEST(OneVerdictTest, OfGeneratedHealthyRuns) {
  for (uint64_t seed = 1; seed <= 2 * generate::kHealthyKinds; ++seed) {
    Recording recording = RecordingOf(generate::Healthy(seed, 1500));
    recording.name = fmt::format("healthy, seed {}", seed);
    ExpectOneVerdict(recording);
  }
}

TEST(OneVerdictTest, OfGeneratedTroubles) {
  for (const generate::TroubleKind& kind : generate::TroubleKinds()) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      Recording recording = RecordingOf(kind.make(seed, 4));
      recording.name = fmt::format("{}, seed {}", kind.cause, seed);
      if (!recording.taken.empty()) ExpectOneVerdict(recording);
    }
  }
}

// A loss of `usual`, then of `high` in the last `many` of `steps` lines.
Recording EndsHigh(int steps, int many, double usual, double high) {
  Recording recording;
  recording.name = fmt::format("{} of {} lines at {}", many, steps, high);
  for (int step = 1; step <= steps; ++step) {
    const double level = step <= steps - many ? usual : high;
    Append(Columns({{.step = step, .loss = level + 0.01 * (step % 7)}}, kBegin),
           0, &recording.taken);
  }
  return recording;
}

TEST(OneVerdictTest, OfALossThatIsHighToTheEnd) {
  const Recording recording = EndsHigh(1500, 30, 2.2, 5.2);
  ExpectOneVerdict(recording);
  Events events;
  EXPECT_EQ(CheckSays(recording, &events).at_end, Severity::kCritical);
}

TEST(OneVerdictTest, OfRunsThatBeginAgain) {
  for (const double high : {2.2, 5.2, 9.0, double{NAN}}) {
    Recording recording = EndsHigh(600, 30, 2.2, high);
    for (int time = 0; time < 3; ++time) {
      Recording again = EndsHigh(600, 30, 2.2, time < 2 ? high : 2.2);
      recording.taken.insert(recording.taken.end(), again.taken.begin() + 400,
                             again.taken.end());
    }
    recording.name += ", begun again";
    ExpectOneVerdict(recording);
  }
}

// A history of before the end of records was kept.
TEST(OneVerdictTest, WithoutTheEventItIsNotJudgedToItsEnd) {
  Events events;
  const Said check = CheckSays(EndsHigh(1500, 30, 2.2, 5.2), &events);
  std::erase_if(events, [](const StampedEvent& event) {
    return std::holds_alternative<RecordsEnded>(event.event.body);
  });
  const Said old = HistoryOnDisk().Replayed(events);
  EXPECT_FALSE(old.to_its_end);
  EXPECT_EQ(old.worst, Severity::kWarning);
  EXPECT_FALSE(BacktestSays(events, old).to_its_end);
}

// -------------------------------------------------------------------- tail

std::string LinesOf(const Recording& recording) {
  std::string text;
  for (const Taken& taken : recording.taken) {
    const StepRecord& r = taken.record;
    text += fmt::format("step={}", r.step);
    const auto add = [&](const char* name, StepField field) {
      if (r.has(field)) text += fmt::format(" {}={}", name, r[field]);
    };
    add("loss", StepField::kLoss);
    add("grad_norm", StepField::kGradNorm);
    add("loss_scale", StepField::kLossScale);
    add("lr", StepField::kLearningRate);
    text += '\n';
  }
  return text;
}

// What it says, and of `notices` the worst.
Said TailSays(const std::string& text, size_t piece) {
  TailVoice voice(open("/dev/null", O_WRONLY | O_CLOEXEC), false);
  TailJudge::Options options;
  options.ranks = {0};
  options.voice = &voice;
  TailJudge judge(options);
  for (size_t at = 0; at < text.size(); at += piece) {
    judge.Feed(0, std::string_view(text).substr(at, piece), kBegin);
  }
  const LogVerdict verdict = judge.Finish();
  return SaidOf(verdict.attempts);
}

Said LogSays(const std::string& text) {
  LogJudge judge({.run_id = "tail", .rules = RulesOfLogs()});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) judge.ReadLine(line);
  return SaidOf(judge.Finish().attempts);
}

void ExpectTailIsCheck(const std::string& text) {
  const Said check = LogSays(text);
  for (const size_t piece : {100u, 5000u, 1u << 20}) {
    EXPECT_EQ(TailSays(text, piece), check) << "in pieces of " << piece;
  }
}

TEST(OneVerdictTest, OfATail) {
  ExpectTailIsCheck(LinesOf(EndsHigh(1500, 30, 2.2, 5.2)));
  for (uint64_t seed = 1; seed <= generate::kHealthyKinds; ++seed) {
    const generate::Story story = generate::Healthy(seed, 1500);
    if (!story.setup.optimizers.empty()) continue;
    SCOPED_TRACE(seed);
    ExpectTailIsCheck(LinesOf(RecordingOf(story)));
  }
  for (const generate::TroubleKind& kind : generate::TroubleKinds()) {
    const generate::Story story = kind.make(1, 4);
    if (story.setup.ranks > 1 || !story.setup.optimizers.empty()) continue;
    SCOPED_TRACE(kind.cause);
    ExpectTailIsCheck(LinesOf(RecordingOf(story)));
  }
}

TEST(OneVerdictTest, OfATailWhoseProgramGaveUp) {
  const std::string text = LinesOf(EndsHigh(300, 0, 2.2, 2.2));
  const std::string words = "Loss is nan, stopping training\n";
  ExpectTailIsCheck(text + words);
  ExpectTailIsCheck(text + words + LinesOf(EndsHigh(300, 0, 2.2, 2.2)));
  ExpectTailIsCheck(LinesOf(EndsHigh(300, 30, 2.2, 5.2)) + words);
}

}  // namespace
}  // namespace nanwatch
