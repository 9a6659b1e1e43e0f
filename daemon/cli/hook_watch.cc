#include "cli/hook_watch.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <thread>

#include "cli/report.h"

namespace nanwatch {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kEvery(1);
// A daemon that does not answer may hold the judge up for so long.
constexpr std::chrono::seconds kHookPatience(1);
// A client's last batch, and what follows from it.
constexpr std::chrono::seconds kEndOfRun(3);
constexpr std::chrono::milliseconds kLookForHook(50);

}  // namespace

HookWatch::HookWatch(const std::string& address, const Announced* announced,
                     TailVoice* voice)
    : client_(address, kHookPatience), announced_(announced), voice_(voice) {}

void HookWatch::Look() {
  const auto now = steady_clock::now();
  if (now < next_ || !announced_->any()) return;
  next_ = now + kEvery;
  voice_->BeQuiet();
  for (const std::string& run : announced_->runs()) {
    const Result<v1::RunDetail> detail = client_.GetRun(run, {});
    if (!detail.ok()) continue;
    for (const v1::Incident& incident : detail->incidents()) {
      if (incident.state() != v1::ALERT_STATE_FIRING || incident.muted() ||
          incident.severity() < v1::SEVERITY_WARNING) {
        continue;
      }
      if (!told_.emplace(incident.id(), incident.severity()).second) continue;
      voice_->Alarm(static_cast<Severity>(incident.severity()),
                    fmt::format("step {} of run {}: {}", incident.opened_step(),
                                run, incident.summary()));
    }
  }
}

std::string HookWatch::Report(const std::string& run) {
  const auto end = steady_clock::now() + kEndOfRun;
  while (true) {
    const Result<v1::RunDetail> detail = client_.GetRun(run, {});
    if (!detail.ok()) return "";
    const v1::RunSummary& summary = detail->summary();
    const bool open = summary.state() == v1::LIFE_STATE_OPEN;
    if (!open || summary.ranks_open() == 0 || steady_clock::now() >= end) {
      if (summary.attempts() == 0) return "";
      return DiagnosisReport(*detail, Style::OfTerminal(STDERR_FILENO));
    }
    std::this_thread::sleep_for(kLookForHook);
  }
}

}  // namespace nanwatch
