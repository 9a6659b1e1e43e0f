// replay: a history or an export judged again.

#include "app/replay.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/recording.h"
#include "cli/replay_compare.h"
#include "engine/engine.h"
#include "history/cut_check.h"

namespace nanwatch {
namespace {

std::string EngineText(const EngineStamp& stamp) {
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
    recorded += (recorded.empty() ? "" : ", then ") + EngineText(stamp);
    same = same && stamp == mine;
  }
  std::printf("Recorded by %s; judged by %s.\n",
              recorded.empty() ? "an unknown engine" : recorded.c_str(),
              EngineText(mine).c_str());
  if (!same) {
    std::printf(
        "These are not the same build: a difference below may be the "
        "engine's.\n");
  }
}

void PrintCounts(const std::string& path, const ReplayOutcome& outcome) {
  std::printf("%s: %s events, %s step records", path.c_str(),
              Grouped(outcome.events).c_str(), Grouped(outcome.steps).c_str());
  if (outcome.damaged > 0) {
    std::printf(
        ", %s damaged events passed over: what follows may differ for want of "
        "them",
        Grouped(outcome.damaged).c_str());
  }
  std::printf("\n");
}

// 0: the same. 1: not.
int PrintComparison(const ReplayCompare& compare, const Snapshot& end,
                    const SentIncidents& sent) {
  const std::vector<std::string> differences = compare.Differences(end);
  for (const std::string& line : differences) {
    std::printf("  %s\n", Clean(line).c_str());
  }
  if (compare.of_another_moment() > 0) {
    const size_t n = compare.of_another_moment();
    std::printf(
        "%s recorded while %s went on, between two notices: %s sentences are "
        "not compared.\n",
        (Counted(n, "incident") + (n == 1 ? " was" : " were")).c_str(),
        n == 1 ? "it" : "they", n == 1 ? "its" : "their");
  }
  if (!differences.empty()) {
    std::printf("%s.\n", Counted(differences.size(), "difference").c_str());
    return 1;
  }
  const bool worded =
      std::any_of(sent.begin(), sent.end(), [](const auto& one) {
        return !one.second.findings.empty() || !one.second.summary.empty();
      });
  std::printf(
      "Identical: the %s reported then %s found again%s, and no others.\n",
      Counted(sent.size(), "incident").c_str(), sent.size() == 1 ? "is" : "are",
      worded && compare.of_another_moment() == 0
          ? ", with the same findings and sentences"
          : "");
  return 0;
}

}  // namespace

int Replay(const std::string& path, const Style& style) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(path);
  if (!reader.ok()) return Fail(WhyUnreadable(path, reader.error()));
  if (BytesCutOff(path) != 0) {
    return Fail(WhyUnreadable(path, path + " ends before its last page"));
  }
  const auto sent = (*reader)->Sent();
  if (!sent.ok()) return Fail(WhyUnreadable(path, sent.error()));
  ReplayCompare compare(*sent);
  ReadingEngine engine;
  const Result<ReplayOutcome> outcome =
      ReplayAll(reader->get(), &engine, compare.Until(),
                [&](const Notice& notice) { compare.Told(notice); });
  if (!outcome.ok()) return Fail(WhyUnreadable(path, outcome.error()));
  const auto snapshot = engine.engine().Publish(outcome->newest, 0, Snapshot());
  PrintCounts(path, *outcome);
  PrintEngines(outcome->recorded_by);
  for (const RunKey& run : outcome->trimmed) {
    std::printf(
        "Not all records of %s attempt %d are in the file (retention, or a "
        "full "
        "disk): it is judged on from a checkpoint that knows of them, if this "
        "engine reads one, or from what is left.\n",
        Clean(run.run_id).c_str(), run.attempt);
  }
  snapshot->runs.ForEach([&](const RunView& run) {
    const std::string& id = run.key.run_id;
    std::printf("%s attempt %d: %s\n",
                style.Bold(Fitted(id, std::min<size_t>(id.size(), 60))).c_str(),
                run.key.attempt, Clean(run.diagnosis.headline).c_str());
    if (JudgedToEnd(run) == false) {
      std::printf(
          "  It is not judged to its end: nobody said that no record "
          "follows.\n");
    }
  });
  if (const std::string missing = (*reader)->missing(); !missing.empty()) {
    std::printf("%s\n", Clean(missing).c_str());
  }
  return PrintComparison(compare, *snapshot, *sent);
}

}  // namespace nanwatch
