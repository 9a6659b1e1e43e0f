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
//   - That incidents are resolved: an orderly close resolves what fires, with
//     "all ranks closed". What fired until then fires at the end for `check`.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "app/log_judge.h"
#include "app/record_judge.h"
#include "cli/tail_judge.h"
#include "tests/generate/healthy.h"
#include "tests/generate/trouble.h"
#include "tests/golden/scenario.h"
#include "tests/property/judges.h"

namespace nanwatch {
namespace {

void ExpectOneVerdict(const Recording& recording) {
  SCOPED_TRACE(recording.name);
  Events events;
  const Said check = CheckSays(recording, &events);
  EXPECT_TRUE(check.to_its_end);
  EXPECT_EQ(BacktestSays(events, check), check) << "backtest of check";
  EXPECT_EQ(ReplaySays(events), check) << "replay of check";
  Events lived;
  const Said daemon = DaemonSays(recording, &lived);
  Said as_check = daemon;
  as_check.incidents =
      daemon.timeless == check.timeless ? check.incidents : daemon.incidents;
  as_check.timeless = check.timeless;
  EXPECT_EQ(as_check, check) << "the daemon";
  EXPECT_EQ(ReplaySays(lived), daemon) << "replay of the daemon";
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
    for (const generate::Update& a : moment.updates) {
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
  const Said old = ReplaySays(events);
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
