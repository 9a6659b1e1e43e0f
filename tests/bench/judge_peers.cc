#include "tests/bench/judge_peers.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "app/log_judge.h"
#include "logs/line_splitter.h"
#include "tests/generate/healthy.h"
#include "tests/generate/trouble.h"
#include "tests/judge/hearing.h"
#include "tests/judge/peers.h"
#include "tests/judge/verdicts.h"

namespace nanwatch {
namespace {

constexpr size_t kInTime = 100;  // steps

struct Number {
  std::optional<double> loss;
  std::optional<double> norm;
};

// Records at which a peer raises a new alarm.
std::vector<size_t> Alarms(const Peer& peer,
                           const std::vector<Number>& numbers) {
  PeerRule rule = peer.make();
  AlarmCount count;
  std::vector<size_t> alarms;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto& value = peer.on_loss ? numbers[i].loss : numbers[i].norm;
    if (count.Note(value && rule(*value), i)) alarms.push_back(i);
  }
  return alarms;
}

// As a training would look at them: of rank 0 and its first optimizer; norms of
// skipped updates are not given to anybody.
std::vector<Number> NumbersOf(const generate::Story& story) {
  std::vector<Number> numbers;
  for (const generate::Moment& moment : story.moments) {
    const generate::Update& a = moment.updates[0];
    Number& n = numbers.emplace_back();
    n.loss = a.loss;
    if (!a.skipped.value_or(false)) n.norm = a.grad_norm;
  }
  return numbers;
}

struct Score {
  int64_t steps = 0;
  int false_alarms = 0;
  std::map<std::string, std::vector<int>> delays;  // by cause; -1: not found
  int64_t log_records = 0;
  int log_false_alarms = 0;
  int log_bad = 0;
  int log_found = 0;
};

void NoteTrouble(const generate::Story& story, std::string_view cause,
                 const std::vector<size_t>& alarms, Score* score) {
  int delay = -1;
  for (const size_t at : alarms) {
    if (at < story.onset || at > story.onset + kInTime) continue;
    delay = static_cast<int>(at - story.onset);
    break;
  }
  score->delays[std::string(cause)].push_back(delay);
}

std::vector<size_t> OurAlarms(const Heard& heard) {
  std::vector<size_t> alarms;
  for (const Told& told : heard.told) {
    if (told.worst >= Severity::kWarning) alarms.push_back(told.warned);
  }
  std::sort(alarms.begin(), alarms.end());
  return alarms;
}

// scores[0] is ours, scores[1 + i] is Peers()[i]'s.
void OnHealthy(int runs, int64_t steps, std::vector<Score>* scores) {
  for (int seed = 1; seed <= runs; ++seed) {
    const generate::Story story =
        generate::Healthy(static_cast<uint64_t>(seed), steps);
    (*scores)[0].steps += steps;
    (*scores)[0].false_alarms +=
        static_cast<int>(OurAlarms(Hear(story, 64)).size());
    const std::vector<Number> numbers = NumbersOf(story);
    for (size_t i = 0; i < Peers().size(); ++i) {
      Score& score = (*scores)[i + 1];
      score.steps += steps;
      score.false_alarms +=
          static_cast<int>(Alarms(Peers()[i], numbers).size());
    }
  }
}

void OnTrouble(int seeds, std::vector<Score>* scores) {
  for (const generate::TroubleKind& kind : generate::TroubleKinds()) {
    for (const double effect : EffectSizes()) {
      if (effect < 5) continue;
      for (int seed = 1; seed <= seeds; ++seed) {
        const generate::Story story =
            kind.make(static_cast<uint64_t>(seed), effect);
        if (story.harmless) break;
        NoteTrouble(story, kind.cause, OurAlarms(Hear(story, 1)),
                    &(*scores)[0]);
        const std::vector<Number> numbers = NumbersOf(story);
        for (size_t i = 0; i < Peers().size(); ++i) {
          NoteTrouble(story, kind.cause, Alarms(Peers()[i], numbers),
                      &(*scores)[i + 1]);
        }
      }
    }
  }
}

// What a log holds, and how often ours warned.
std::vector<Number> ReadLog(const std::string& path, int* warnings) {
  std::vector<Number> numbers;
  LogJudge::Options options;
  options.run_id = "log";
  options.on_record = [&](const LogRecord& record) {
    if (record.rank != 0) return;
    Number& n = numbers.emplace_back();
    n.loss = record.step.get(StepField::kLoss);
    if (!record.step.is(StepFlag::kSkipped)) {
      n.norm = record.step.get(StepField::kGradNorm);
    }
  };
  LogJudge judge(options);
  LineSplitter splitter([&](std::string_view line) { judge.ReadLine(line); });
  const std::string command = "gzip -cdf '" + path + "'";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return numbers;
  std::vector<char> bytes(65536);
  while (const size_t n = fread(bytes.data(), 1, bytes.size(), pipe)) {
    splitter.Feed({bytes.data(), n});
  }
  pclose(pipe);
  splitter.Finish();
  *warnings = 0;
  for (const auto& attempt : judge.Finish().attempts) {
    for (const Incident& incident : attempt->incidents) {
      *warnings += incident.worst >= Severity::kWarning;
    }
  }
  return numbers;
}

void NoteLog(bool healthy, size_t records, int alarms, Score* score) {
  if (healthy) {
    score->log_records += static_cast<int64_t>(records);
    score->log_false_alarms += alarms;
  } else {
    ++score->log_bad;
    score->log_found += alarms > 0;
  }
}

// The folder's labels.csv: case, file, program, what happened, ...
int OnLogs(const std::string& folder, std::vector<Score>* scores) {
  std::ifstream labels(folder + "/labels.csv");
  std::string line;
  std::getline(labels, line);
  int logs = 0;
  while (std::getline(labels, line)) {
    std::istringstream cells(line);
    std::string name, file, program, expected;
    std::getline(cells, name, ',');
    std::getline(cells, file, ',');
    std::getline(cells, program, ',');
    std::getline(cells, expected, ',');
    if (expected == "recovers") continue;  // neither healthy nor to be found
    const bool healthy = expected == "healthy";
    int warnings = 0;
    const auto numbers = ReadLog(folder + "/" + file, &warnings);
    NoteLog(healthy, numbers.size(), warnings, &(*scores)[0]);
    for (size_t i = 0; i < Peers().size(); ++i) {
      const auto alarms = Alarms(Peers()[i], numbers);
      NoteLog(healthy, numbers.size(), static_cast<int>(alarms.size()),
              &(*scores)[i + 1]);
    }
    ++logs;
  }
  return logs;
}

// "97 %, 2": found, and the middle of the delays in steps.
std::string Found(const Score& score, std::string_view cause) {
  std::vector<int> found;
  size_t all = 0;
  for (const auto& [of, delays] : score.delays) {
    if (!cause.empty() && of != cause) continue;
    all += delays.size();
    for (const int delay : delays) {
      if (delay >= 0) found.push_back(delay);
    }
  }
  if (found.empty()) return "0 %";
  std::sort(found.begin(), found.end());
  return fmt::format(
      "{:.0f} %, {}",
      100.0 * static_cast<double>(found.size()) / static_cast<double>(all),
      found[found.size() / 2]);
}

std::string Row(std::string_view name, const Score& s, bool logs) {
  const auto per_thousand = [](int alarms, int64_t records) {
    return records == 0 ? 0.0 : 1000.0 * alarms / static_cast<double>(records);
  };
  std::string row =
      fmt::format("| {} | {:.3f} | {} | {} | {} | {} |", name,
                  per_thousand(s.false_alarms, s.steps), Found(s, "divergence"),
                  Found(s, "nan_from_forward"),
                  Found(s, "collapse_with_underflow"), Found(s, ""));
  if (logs) {
    row += fmt::format(" {} of {} | {:.2f} |", s.log_found, s.log_bad,
                       per_thousand(s.log_false_alarms, s.log_records));
  }
  return row + "\n";
}

}  // namespace

std::string PeersTable(int seeds, int runs, int64_t steps,
                       const std::string& corpus) {
  std::vector<Score> scores(Peers().size() + 1);
  OnHealthy(runs, steps, &scores);
  OnTrouble(seeds, &scores);
  const int logs = corpus.empty() ? 0 : OnLogs(corpus, &scores);
  std::string out = fmt::format(
      "Healthy: seeds 1 to {}, {} steps each. Troubles: seeds 1 to {}, 5 to "
      "100 times the healthy 99.9 % quantile.",
      runs, steps, seeds);
  if (logs > 0) out += fmt::format(" Logs: {}, of known outcome.", logs);
  out += fmt::format(
      "\n\n| rule | false alarms / 1,000 healthy steps | divergence: found, "
      "delay | NaN: found, delay | collapse: found, delay | all causes: found, "
      "delay |{}\n|---|---|---|---|---|---|{}\n",
      logs > 0 ? " logs: found | logs: false alarms / 1,000 |" : "",
      logs > 0 ? "---|---|" : "");
  out += Row("nanwatch", scores[0], logs > 0);
  for (size_t i = 0; i < Peers().size(); ++i) {
    out += Row(Peers()[i].name, scores[i + 1], logs > 0);
  }
  return out;
}

}  // namespace nanwatch
