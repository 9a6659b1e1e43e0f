#include "app/upstream_side.h"

#include <functional>
#include <utility>

namespace nanwatch {
namespace {

// For the last records of a training that ended with its daemon. Of the 3 s
// that the end may take.
constexpr Duration kLastRecords = std::chrono::seconds(1);

// What the upstream asks of a trainer. A stop is the run's: all its ranks here
// hear it once, also those that come back.
void AskFor(const RunKey& run, Request request, const Snapshot& snapshot,
            Pipeline& pipeline) {
  if (request.kind != Request::Kind::kStop) {
    return pipeline.Ask(std::move(request));
  }
  const auto view = snapshot.Find(run.run_id, run.attempt);
  if (view == nullptr || view->stop_requested) return;
  Annotation stop;
  stop.kind = Annotation::Kind::kStopRequest;
  stop.by = "upstream";
  stop.reason = std::move(request.reason);
  pipeline.Post({.run = run, .body = std::move(stop)});
}

}  // namespace

void UpstreamSide::Start(const DaemonConfig& config, History* history,
                         Pipeline& pipeline, NoticeGate& gate,
                         Published<Snapshot>& published, Clock& clock) {
  if (config.upstream.address.empty() || history == nullptr) return;
  RelaySeam seam;
  seam.history_path = config.history.path;
  seam.committed = [history] { return history->committed(); };
  seam.ask = [&](const RunKey& run, Request request) {
    AskFor(run, std::move(request), *published.Get(), pipeline);
  };
  seam.alone = std::bind_front(&NoticeGate::Open, &gate);
  seam.told = std::bind_front(&NoticeGate::TakeTold, &gate);
  relay_ = std::make_unique<Relay>(config.upstream, std::move(seam), clock);
  relay_->Start();
}

void UpstreamSide::Stop() {
  if (relay_ != nullptr) relay_->Finish(kLastRecords);
}

void UpstreamSide::AppendSamples(std::vector<SelfSample>* samples) const {
  if (relay_ != nullptr) relay_->AppendSamples(samples);
}

}  // namespace nanwatch
