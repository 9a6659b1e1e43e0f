// Streams that end, sessions that do not come back, and runs that so are over.
// What relays told people before they came back.

#include <chrono>
#include <utility>

#include "app/pipeline.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// A relay comes back within it from a restart or a short cut of the network; a
// daemon's own restart waits as long. Ours.
constexpr Duration kRelayReturns = std::chrono::seconds(60);
// Within it a relay that is back has brought what waited, and the incidents
// that it told people of are as bad here as they were there. Ours.
constexpr Duration kTold = std::chrono::seconds(60);

}  // namespace

bool Pipeline::End(Time now, const std::shared_ptr<ReplyPort>& port) {
  const auto found = sessions_.find(port.get());
  if (found == sessions_.end()) return true;
  std::set<SessionId>& left = found->second;
  while (!left.empty()) {
    const SessionId session = *left.begin();
    const auto held = ports_.find(session);
    // The session may have moved to a newer stream.
    if (held != ports_.end() && held->second == port) {
      if (relayed_.contains(session)) {
        awaited_[session] = now + kRelayReturns;
      } else if (!Commit(now,
                         engine_.Lose(session,
                                      "the stream ended without a close"))) {
        return false;
      }
      ports_.erase(held);
    }
    left.erase(left.begin());
  }
  sessions_.erase(found);
  return true;
}

void Pipeline::CloseLostRuns(Time now) {
  while (!effects_.close.empty()) {
    std::vector<RunKey> runs = std::exchange(effects_.close, {});
    std::vector<Event> closing;
    for (const RunKey& run : runs) {
      Event event;
      event.run = run;
      event.body = RunClosed{"lost"};
      closing.push_back(std::move(event));
    }
    if (Commit(now, std::move(closing))) continue;
    effects_.close = std::move(runs);  // the next turn tries again
    return;
  }
}

void Pipeline::ExpectReturn(std::vector<SessionId> sessions, Time until) {
  for (const SessionId session : sessions) awaited_[session] = until;
}

void Pipeline::LoseMissing(Time now) {
  for (auto one = awaited_.begin(); one != awaited_.end();) {
    const auto& [session, until] = *one;
    if (now < until) {
      ++one;
      continue;
    }
    const bool relayed = relayed_.contains(session);
    if (!Commit(now,
                engine_.Lose(session, relayed ? "its relay did not come back"
                                              : "did not come back after a "
                                                "restart"))) {
      return;
    }
    relayed_.erase(session);
    one = awaited_.erase(one);
  }
}

void Pipeline::TakeTold(const ToldMessage& message) {
  for (const ToldMessage::Told& one : message.told) {
    if (told_.size() >= limits::kNotices) told_.erase(told_.begin());
    told_[{one.run, one.incident}] = clock_.Now() + kTold;
  }
}

bool Pipeline::IsTold(const Notice& notice) {
  const auto told = told_.find({notice.run, notice.incident.id});
  if (told == told_.end()) return false;
  const bool fires = !notice.resolved && !notice.incident.muted;
  if (fires && clock_.Now() < told->second) return true;
  told_.erase(told);
  return false;
}

}  // namespace nanwatch
