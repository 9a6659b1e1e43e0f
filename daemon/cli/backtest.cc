#include "cli/backtest.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "cli/recording.h"
#include "config/config.h"

namespace nanwatch {
namespace {

bool IsSerious(const Incident& incident) {
  return incident.worst >= Severity::kWarning;
}

uint64_t SeriousOf(const std::vector<ToldIncident>& incidents,
                   const RunKey& run) {
  return static_cast<uint64_t>(std::count_if(
      incidents.begin(), incidents.end(), [&](const ToldIncident& told) {
        return told.run == run && IsSerious(told.incident);
      }));
}

std::optional<int64_t> LeadOf(const std::vector<ToldIncident>& incidents,
                              const BacktestedRun& run) {
  std::optional<int64_t> lead;
  for (const ToldIncident& told : incidents) {
    if (told.run != run.key || !IsSerious(told.incident)) continue;
    lead = std::max(lead.value_or(INT64_MIN), *run.lost_from - told.told_step);
  }
  return lead;
}

// A name that is no run's would make every alarm look right.
Status CheckHealthy(const BacktestOptions& options,
                    const std::vector<BacktestedFile>& files) {
  std::set<std::string> known;
  for (const BacktestedFile& file : files) {
    known.insert(file.path);
    for (const BacktestedRun& run : file.outcome.runs) {
      known.insert(run.key.run_id);
    }
  }
  for (const std::string& name : options.healthy) {
    if (known.count(name) == 0) {
      return Error{"--healthy " + Clean(name) +
                   ": no recording has such a run"};
    }
  }
  return OkStatus();
}

}  // namespace

FalseAlarms CountFalseAlarms(const BacktestOptions& options,
                             const std::vector<BacktestedFile>& files) {
  const std::set<std::string> healthy(options.healthy.begin(),
                                      options.healthy.end());
  FalseAlarms alarms;
  for (const BacktestedFile& file : files) {
    for (const BacktestedRun& run : file.outcome.runs) {
      if (!options.all_healthy && healthy.count(run.key.run_id) == 0 &&
          healthy.count(file.path) == 0) {
        continue;
      }
      ++alarms.runs;
      alarms.updates += run.updates;
      alarms.before += SeriousOf(file.outcome.before, run.key);
      alarms.after += SeriousOf(file.outcome.after, run.key);
    }
  }
  return alarms;
}

std::vector<LeadTime> LeadTimesOf(const BacktestOutcome& outcome) {
  std::vector<LeadTime> leads;
  for (const BacktestedRun& run : outcome.runs) {
    if (!run.lost_from) continue;
    leads.push_back(
        {&run, LeadOf(outcome.before, run), LeadOf(outcome.after, run)});
  }
  return leads;
}

int BacktestRules(const BacktestOptions& options, const Style& style) {
  const Result<DaemonConfig> config = LoadConfig(options.rules);
  if (!config.ok()) return Fail(config.error(), kExitUsage);
  std::vector<BacktestedFile> files;
  for (const std::string& path : options.recordings) {
    Backtest backtest(config->rules);
    const Result<RecordingNote> note = ReadRecording(
        path, options.log, {},
        [&](Time now, const Event& event) { backtest.Take(now, event); });
    if (!note.ok()) return Fail(note.error());
    files.push_back({path, note->complaint, backtest.Finish()});
  }
  const Status healthy = CheckHealthy(options, files);
  if (!healthy.ok()) return Fail(healthy.error(), kExitUsage);
  const std::string text = options.json ? BacktestJson(options, files)
                                        : BacktestText(options, files, style);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace nanwatch
