#include "web/event_feed.h"

namespace nanwatch {
namespace {

constexpr Duration kChangesApart = std::chrono::seconds(1);
constexpr Duration kSilence = std::chrono::seconds(3);

}  // namespace

bool EventFeed::Changed(const std::shared_ptr<const Snapshot>& snapshot) {
  if (snapshot == snapshot_) return false;
  snapshot_ = snapshot;
  if (query_.run_id.empty()) return true;
  auto run = snapshot->Find(query_.run_id, query_.attempt);
  if (run == run_) return false;
  run_ = std::move(run);
  return true;
}

std::string EventFeed::Next(const std::shared_ptr<const Snapshot>& snapshot,
                            Time now) {
  const bool changed = Changed(snapshot);
  if (!begun_) {
    begun_ = true;
    told_ = sent_ = now;
    return "retry: 3000\n\n";
  }
  due_ = due_ || changed;
  // A clock that was set back must not silence it.
  const bool back = now < told_ || now < sent_;
  if (due_ && (back || now - told_ >= kChangesApart)) {
    due_ = false;
    told_ = sent_ = now;
    return "event: change\ndata: " + std::to_string(snapshot->event_id) +
           "\n\n";
  }
  if (!back && now - sent_ < kSilence) return "";
  sent_ = now;
  return ":\n\n";
}

}  // namespace nanwatch
