// replay: a history or an export judged again.

#include "app/replay.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/replay_compare.h"
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

// Why `path` cannot be judged again, and what to do instead.
std::string WhyNot(const std::string& path, const std::string& error) {
  constexpr std::string_view kDatabase = "SQLite format 3";
  if (IsDirectory(path)) {
    return path + " is a folder: name the history file in it";
  }
  if (ReadHead(path, kDatabase.size()) != kDatabase) {
    return path +
           " is neither a history of nanwatchd nor a file of `nanwatch "
           "export`: name one of these; for a log there is `nanwatch check`";
  }
  return error +
         ". Was it cut short? Copy it again, with its -wal beside it, or "
         "export the run again";
}

uint32_t BigEndian(std::string_view bytes) {
  uint32_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

// A database says in its head how long it is; SQLite reads what is left of a
// shorter one without a word. Not so beside its log, which may hold the rest.
bool IsCutShort(const std::string& path) {
  const std::string head = ReadHead(path, 100);
  if (head.size() < 100 || FileBytes(path + "-wal") > 0) return false;
  const std::string_view bytes = head;
  // The count of pages holds where both counters of changes agree.
  if (bytes.substr(24, 4) != bytes.substr(92, 4)) return false;
  const uint64_t page = BigEndian(bytes.substr(16, 2));
  const uint64_t page_bytes = page == 1 ? 65536 : page;
  return FileBytes(path) < page_bytes * BigEndian(bytes.substr(28, 4));
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
    std::printf(
        "%zu incidents were recorded while they went on, between two notices: "
        "their sentences are not compared.\n",
        compare.of_another_moment());
  }
  if (!differences.empty()) {
    std::printf("%zu differences.\n", differences.size());
    return 1;
  }
  const bool worded =
      std::any_of(sent.begin(), sent.end(), [](const auto& one) {
        return !one.second.findings.empty() || !one.second.summary.empty();
      });
  std::printf(
      "Identical: the %zu incidents that were reported then are found "
      "again%s, and no others.\n",
      sent.size(),
      worded && compare.of_another_moment() == 0
          ? ", with the same findings and sentences"
          : "");
  return 0;
}

}  // namespace

int Replay(const std::string& path, const Style& style) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(path);
  if (!reader.ok()) return Fail(WhyNot(path, reader.error()));
  if (IsCutShort(path)) {
    return Fail(WhyNot(path, path + " ends before its last page"));
  }
  const auto sent = (*reader)->Sent();
  if (!sent.ok()) return Fail(WhyNot(path, sent.error()));
  ReplayCompare compare(*sent);
  Engine engine(Engine::EndedRuns::kStay);
  const Result<ReplayOutcome> outcome =
      ReplayAll(reader->get(), &engine, compare.Until(),
                [&](const Notice& notice) { compare.Told(notice); });
  if (!outcome.ok()) return Fail(WhyNot(path, outcome.error()));
  const auto snapshot = engine.Publish(outcome->newest, 0, Snapshot());
  PrintCounts(path, *outcome);
  PrintEngines(outcome->recorded_by);
  for (const RunKey& run : outcome->trimmed) {
    std::printf(
        "The beginning of %s attempt %d is no longer in the file (retention): "
        "it is judged on from the oldest checkpoint that this engine reads, or "
        "from what is left.\n",
        Clean(run.run_id).c_str(), run.attempt);
  }
  snapshot->runs.ForEach([&](const RunView& run) {
    std::printf("%s attempt %d: %s\n", style.Bold(run.key.run_id).c_str(),
                run.key.attempt, run.diagnosis.headline.c_str());
  });
  if (const std::string missing = (*reader)->missing(); !missing.empty()) {
    std::printf("%s\n", missing.c_str());
  }
  return PrintComparison(compare, *snapshot, *sent);
}

}  // namespace nanwatch
