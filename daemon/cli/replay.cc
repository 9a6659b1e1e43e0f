// replay: a history or an export judged again.

#include "app/replay.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "detect/rules.h"
#include "engine/engine.h"

namespace nanwatch {
namespace {

std::string Described(const EngineStamp& stamp) {
  return fmt::format("engine {} of build {}", stamp.version,
                     stamp.build.empty() ? "unknown" : stamp.build);
}

// Who judged then, and who judges now: where they differ, so may the verdicts.
void PrintEngines(const std::vector<EngineStamp>& recorded_by) {
  const EngineStamp mine{std::string(EngineVersion()),
                         std::string(EngineBuild())};
  std::string recorded;
  bool same = !recorded_by.empty();
  for (const EngineStamp& stamp : recorded_by) {
    recorded += (recorded.empty() ? "" : ", then ") + Described(stamp);
    same = same && stamp == mine;
  }
  std::printf("Recorded by %s; judged by %s.\n",
              recorded.empty() ? "an unknown engine" : recorded.c_str(),
              Described(mine).c_str());
  if (!same) {
    std::printf(
        "These are not the same build: a difference below may be the "
        "engine's.\n");
  }
}

std::string RuleName(int number) {
  const RuleSpec* rule = FindRule(number);
  return rule != nullptr ? std::string(rule->name) : fmt::format("{}", number);
}

std::string Described(const RunKey& run, const Incident& incident) {
  return fmt::format("{} attempt {}: {} {} from step {}", run.run_id,
                     run.attempt, Name(incident.worst), RuleName(incident.rule),
                     incident.opened_step);
}

bool Same(const Incident& a, const Incident& b) {
  return a.rule == b.rule && a.family == b.family && a.worst == b.worst &&
         a.opened_step == b.opened_step && a.cause == b.cause;
}

// Names that were hashed make other ids.
bool SameUnderAnotherId(const Incident& a, const Incident& b) {
  return Same(a, b) && a.subject == b.subject;
}

// Prints what differs; how many did.
int Compare(const Snapshot& snapshot,
            const std::vector<std::pair<RunKey, Incident>>& sent) {
  struct Found {
    RunKey run;
    Incident incident;
  };
  std::map<uint64_t, Found> found;
  snapshot.runs.ForEach([&](const RunView& run) {
    for (const Incident& incident : run.incidents) {
      if (incident.state != AlertState::kPending) {
        found[incident.id] = {run.key, incident};
      }
    }
  });
  int differences = 0;
  for (const auto& [run, was] : sent) {
    auto now = found.find(was.id);
    if (now == found.end()) {
      now = std::find_if(found.begin(), found.end(), [&](const auto& entry) {
        return entry.second.run == run &&
               SameUnderAnotherId(was, entry.second.incident);
      });
    }
    if (now == found.end()) {
      ++differences;
      std::printf("  gone: %s\n", Described(run, was).c_str());
      continue;
    }
    if (!Same(was, now->second.incident)) {
      ++differences;
      std::printf("  was: %s (%s)\n", Described(run, was).c_str(),
                  std::string(Name(was.cause)).c_str());
      std::printf("  now: %s (%s)\n",
                  Described(run, now->second.incident).c_str(),
                  std::string(Name(now->second.incident.cause)).c_str());
    }
    found.erase(now);
  }
  for (const auto& [id, now] : found) {
    ++differences;
    std::printf("  new: %s\n", Described(now.run, now.incident).c_str());
  }
  return differences;
}

}  // namespace

int Replay(const std::string& path, const Style& style) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(path);
  if (!reader.ok()) return Fail(reader.error());
  Engine engine(Engine::EndedRuns::kStay);
  const Result<ReplayOutcome> outcome = ReplayAll(reader->get(), &engine);
  if (!outcome.ok()) return Fail(outcome.error());
  const auto snapshot = engine.Publish(outcome->newest, 0, Snapshot());
  std::printf("%s: %s events, %s step records", path.c_str(),
              Grouped(outcome->events).c_str(),
              Grouped(outcome->steps).c_str());
  if (outcome->damaged > 0) {
    std::printf(", %s damaged events passed over",
                Grouped(outcome->damaged).c_str());
  }
  std::printf("\n");
  PrintEngines(outcome->recorded_by);
  snapshot->runs.ForEach([&](const RunView& run) {
    std::printf("%s attempt %d: %s\n", style.Bold(run.key.run_id).c_str(),
                run.key.attempt, run.diagnosis.headline.c_str());
  });
  const auto sent = (*reader)->Sent();
  if (!sent.ok()) return Fail(sent.error());
  const int differences = Compare(*snapshot, *sent);
  if (differences == 0) {
    std::printf(
        "Identical: the %zu incidents that were reported then are "
        "found again, and no others.\n",
        sent->size());
    return 0;
  }
  std::printf("%d differences.\n", differences);
  return 1;
}

}  // namespace nanwatch
