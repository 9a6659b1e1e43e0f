// What the daemon says of itself: the figures of every part as SelfSamples.

#ifndef NANWATCH_APP_SELF_REPORT_H_
#define NANWATCH_APP_SELF_REPORT_H_

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/pipeline.h"
#include "base/time.h"
#include "history/history.h"
#include "model/self_sample.h"
#include "model/snapshot.h"

namespace nanwatch {

// Of the configuration's last reload. Written by the main thread.
struct ReloadState {
  std::atomic<bool> successful{true};
  std::atomic<int64_t> success_us{0};
};

// Of the replay at start. Written once, before anybody reads.
struct ReplayState {
  Duration duration{};
  uint64_t events = 0;
  uint64_t damaged = 0;  // passed over
};

void LogReplay(const ReplayState& replay);

// Appended to `*samples`, all below. Any thread.
void ReportReload(const ReloadState& reload, std::vector<SelfSample>* samples);
void ReportReplay(const ReplayState& replay, bool ready,
                  std::vector<SelfSample>* samples);
void ReportPipeline(Pipeline& pipeline, std::vector<SelfSample>* samples);
void ReportHistory(const HistoryStats& stats, std::vector<SelfSample>* samples);
void ReportSnapshot(const Snapshot& snapshot, Time now,
                    std::vector<SelfSample>* samples);
void ReportBuild(std::string_view version, Time started,
                 std::vector<SelfSample>* samples);
// CPU, memory, descriptors, from /proc/self.
void ReportProcess(Time started, std::vector<SelfSample>* samples);

}  // namespace nanwatch

#endif  // NANWATCH_APP_SELF_REPORT_H_
