#include "app/push_side.h"

#include <utility>

#include "base/log.h"
#include "model/metric_names.h"
#include "push/otlp.h"
#include "push/remote_write.h"

namespace nanwatch {
namespace {

// For the last steps of a training that ended with its daemon. Of the 3 s that
// the end may take.
constexpr Duration kLastSteps = std::chrono::milliseconds(500);

}  // namespace

void PushSide::Start(const DaemonConfig& config, History* history,
                     Clock& clock) {
  const PushOptions& options = config.push;
  const auto add = [&](std::unique_ptr<Sink> sink) {
    pushers_.push_back(std::make_unique<Pusher>(
        options, config.history.path,
        [history] { return history->committed(); }, std::move(sink), clock));
    pushers_.back()->Start();
  };
  if (options.remote_write.url.empty() && options.otlp.address.empty()) return;
  if (history == nullptr) {
    LogWarning("steps are sent to stores out of the history, which is off");
    return;
  }
  if (!options.remote_write.url.empty()) add(NewRemoteWrite(options));
  if (options.otlp.address.empty()) return;
  incidents_.Want();
  add(NewOtlp(options, NANWATCH_VERSION, incidents_));
}

void PushSide::Stop() {
  for (const auto& pusher : pushers_) pusher->Finish(kLastSteps);
}

void PushSide::AppendSamples(std::vector<SelfSample>* samples) const {
  for (const auto& pusher : pushers_) pusher->AppendSamples(samples);
  if (!incidents_.wanted()) return;
  samples->push_back({Name(Metric::kPushDropped),
                      {{"to", "otlp"}, {"reason", "incident"}},
                      static_cast<double>(incidents_.lost())});
}

}  // namespace nanwatch
