#include "push/pusher.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "history/reader.h"
#include "model/metric_names.h"
#include "nanwatch/push/v1/push.pb.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTurn = milliseconds(100);
// Records are gathered so long for one request. Ours.
constexpr Duration kGather = seconds(1);
// Of one request, as Prometheus' own senders since 2.48.
constexpr int kChunkSamples = 2000;
constexpr size_t kQueueMoments = 4096;
// As Prometheus' own senders wait at most; and what comes before it, ours.
constexpr Duration kFirstWait = milliseconds(100);
constexpr Duration kLongestWait = seconds(5);
// Answers of 500 in a row, until it is asked whose fault that is. Ours.
constexpr int kFailedMost = 3;
// Stores take what is so far ahead, but not much more. Ours.
constexpr int64_t kFutureMs = 60'000;
constexpr Duration kSaveEvery = seconds(1);
// 20,000 lanes with names of 512 bytes.
constexpr size_t kFileMost = 32 << 20;

int64_t MillisOf(Time time) { return ToMicros(time) / 1000; }

uint64_t SamplesOf(const std::vector<Moment>& moments) {
  uint64_t samples = 0;
  for (const Moment& moment : moments) samples += moment.samples();
  return samples;
}

std::string_view NameOf(int dropped) {
  constexpr std::array<std::string_view, Pusher::kDroppeds> kNames = {
      "too_old", "future", "refused", "unordered", "crowded"};
  return kNames[dropped];
}

}  // namespace

Pusher::Pusher(PushOptions options, std::string history_path,
               std::function<uint64_t()> committed, std::unique_ptr<Sink> sink,
               Clock& clock)
    : options_(std::move(options)),
      history_path_(std::move(history_path)),
      committed_(std::move(committed)),
      sink_(std::move(sink)),
      state_path_(history_path_ + "." + std::string(sink_->name())),
      clock_(clock),
      moments_(options_.ranks),
      backoff_(kFirstWait, kLongestWait) {
  Load();
}

Pusher::~Pusher() { Finish(Duration(0)); }

void Pusher::Start() {
  thread_ = std::thread([this] {
    while (!stop_) RunOnce(kTurn);
  });
}

void Pusher::Finish(Duration most) {
  hurry_ = true;
  const Time until = clock_.Now() + most;
  while (thread_.joinable() && figures_.through < committed_() &&
         clock_.Now() < until) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  stop_ = true;
  if (!thread_.joinable()) return;
  sink_->Cancel();
  thread_.join();
}

void Pusher::RunOnce(Duration wait) {
  const Time now = clock_.Now();
  ReadHistory(now);
  sink_->Tend(now);
  if (parts_.empty()) Gather(now);
  if (!parts_.empty() && now >= not_before_) {
    SendFront(now);
  } else if (!hurry_) {
    std::this_thread::sleep_for(wait);
  } else {
    std::this_thread::sleep_for(std::min<Duration>(wait, milliseconds(5)));
  }
  Publish();
  if (unsaved_ && now - saved_ >= kSaveEvery) Save(now);
}

// ------------------------------------------------------------------ its file

void Pusher::Load() {
  push::v1::PushState state;
  if (!state.ParseFromString(ReadHead(state_path_, kFileMost)) ||
      state.through() > committed_()) {
    // There is none, it is damaged, or the history was begun anew.
    born_ = committed_();
    return;
  }
  read_ = state.through();
  skip_ = state.rows();
  figures_.through = read_;
  for (const auto& from : state.lanes()) {
    Lane lane;
    lane.key = {{from.run_id(), from.attempt()}, from.rank(), from.optimizer()};
    lane.done_ms = from.last_ms();
    lane.done_fields = from.fields();
    moments_.Know(lane);
  }
}

void Pusher::Save(Time now) {
  push::v1::PushState state;
  state.set_through(read_);
  state.set_rows(skip_);
  if (const Moment* oldest = Oldest()) {
    state.set_through(oldest->event - 1);
    state.set_rows(oldest->row);
  }
  for (const auto& [key, lane] : moments_.lanes()) {
    if (lane->done_ms == 0) continue;
    auto* to = state.add_lanes();
    to->set_run_id(key.run.run_id);
    to->set_attempt(key.run.attempt);
    to->set_rank(key.rank);
    to->set_optimizer(key.optimizer);
    to->set_last_ms(lane->done_ms);
    to->set_fields(lane->done_fields);
  }
  saved_ = now;
  const Status written = ReplaceFile(state_path_, state.SerializeAsString());
  unsaved_ = !written.ok();
  int64_t suppressed = 0;
  if (written.ok() || !throttle_.Allow(now, &suppressed)) return;
  LogError("how far a store has the history cannot be noted", written.error());
}

// -------------------------------------------------------------- from history

void Pusher::ReadHistory(Time now) {
  if (queue_.size() >= kQueueMoments) return;
  const uint64_t committed = committed_();
  if (committed <= read_) return;
  auto reader = HistoryReader::Open(history_path_);
  if (!reader.ok()) return;
  const int64_t oldest = MillisOf(now - options_.max_age);
  const Status status =
      (*reader)->ForEachEvent(read_, std::nullopt, [&](const StampedEvent& e) {
        if (e.id > committed || stop_) return false;
        const uint64_t skip = e.id == read_ + 1 ? skip_ : 0;
        if (queue_.empty()) gathered_ = now;
        const size_t before = queue_.size();
        moments_.Take(e, skip, &queue_);
        skip_ = 0;
        read_ = e.id;
        // Of an old history only the newest hours are sent.
        if (MillisOf(e.now) < oldest) {
          for (; queue_.size() > before; queue_.pop_back()) {
            if (e.id > born_) Drop(Dropped::kTooOld, queue_.back().samples());
            moments_.Done(queue_.back());
          }
        }
        return queue_.size() < kQueueMoments;
      });
  // What was never stored, and what is damaged, is passed over.
  if (status.ok() && queue_.size() < kQueueMoments && !stop_) {
    read_ = committed;
  }
  unsaved_ = true;
  Drop(Dropped::kCrowded, moments_.TakeCrowded());
  Drop(Dropped::kUnordered, moments_.TakeUnordered());
}

void Pusher::Gather(Time now) {
  int samples = 0;
  size_t count = 0;
  while (count < queue_.size() && samples < kChunkSamples) {
    samples += queue_[count++].samples();
  }
  const bool full = samples >= kChunkSamples;
  if (count == 0 || (!full && !hurry_ && now - gathered_ < kGather)) return;
  chunk_.assign(std::make_move_iterator(queue_.begin()),
                std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  gathered_ = now;
  parts_.push_back({chunk_});
}

// ------------------------------------------------------------------- sending

void Pusher::SendFront(Time now) {
  Part& part = parts_.front();
  DropOutdated(now, &part);
  const uint64_t samples = SamplesOf(part.moments);
  if (samples > 0) {
    SinkReply reply = sink_->Send(part.moments);
    // A cancelled request was not refused.
    if (stop_ && reply.verdict != SinkReply::Verdict::kTaken) return;
    if (reply.verdict != SinkReply::Verdict::kTaken) {
      figures_.failures.fetch_add(1);
    }
    if (reply.verdict == SinkReply::Verdict::kFailed &&
        ++failed_ >= kFailedMost && sink_->Works(now)) {
      reply.verdict = SinkReply::Verdict::kRefused;
    }
    switch (reply.verdict) {
      case SinkReply::Verdict::kTaken:
        reply.rejected = std::min(reply.rejected, samples);
        figures_.taken.fetch_add(samples - reply.rejected);
        Drop(Dropped::kRefused, reply.rejected);
        backoff_.Reset();
        if (!part.single) whole_refused_ = false;
        if (std::exchange(warned_, false)) {
          LogInfo("a store of metrics takes samples again",
                  "store=" + sink_->address());
        }
        parts_.pop_front();
        break;
      case SinkReply::Verdict::kRefused:
        TakeRefused();
        break;
      default:
        Wait(reply, clock_.Now());
        return;
    }
  } else {
    parts_.pop_front();
  }
  if (parts_.empty()) FinishChunk(now);
}

void Pusher::DropOutdated(Time now, Part* part) {
  const int64_t oldest = MillisOf(now - options_.max_age);
  const int64_t newest = MillisOf(now) + kFutureMs;
  std::erase_if(part->moments, [&](const Moment& moment) {
    if (moment.ms < oldest) Drop(Dropped::kTooOld, moment.samples());
    if (moment.ms > newest) Drop(Dropped::kFuture, moment.samples());
    return moment.ms < oldest || moment.ms > newest;
  });
}

// In halves, then one record, then sample by sample.
void Pusher::TakeRefused() {
  Part part = std::move(parts_.front());
  parts_.pop_front();
  std::vector<Moment>& moments = part.moments;
  if (moments.size() > 1) {
    const auto middle = moments.begin() + moments.size() / 2;
    Part later{{middle, moments.end()}};
    moments.erase(middle, moments.end());
    parts_.push_front(std::move(later));
    parts_.push_front(std::move(part));
    return;
  }
  const Moment& moment = moments.front();
  if (part.single || moment.samples() == 1 || whole_refused_) {
    Drop(Dropped::kRefused, moment.samples());
    if (!part.single) return;
    const Part* next = parts_.empty() ? nullptr : &parts_.front();
    ++singles_refused_;
    const bool last = next == nullptr || !next->single;
    if (last) whole_refused_ = singles_refused_ == singles_;
    return;
  }
  singles_refused_ = 0;
  singles_ = moment.samples();
  for (int field = kPushedFields - 1; field >= 0; --field) {
    if ((moment.fields >> field & 1) == 0) continue;
    Part single{{moment}, true};
    single.moments.front().fields = 1u << field;
    parts_.push_front(std::move(single));
  }
}

void Pusher::Wait(const SinkReply& reply, Time now) {
  Duration wait = backoff_.Next(random_());
  if (reply.retry_after) wait = std::max(wait, *reply.retry_after);
  not_before_ = now + wait;
  int64_t suppressed = 0;
  if (!throttle_.Allow(now, &suppressed)) return;
  warned_ = true;
  LogWarning("a store of metrics takes no samples: they wait in the history",
             fmt::format("store={} {}", sink_->address(), reply.why));
}

void Pusher::FinishChunk(Time now) {
  for (const Moment& moment : chunk_) moments_.Done(moment);
  chunk_.clear();
  failed_ = 0;
  Save(now);
}

void Pusher::Drop(Dropped why, uint64_t samples) {
  figures_.dropped[static_cast<int>(why)].fetch_add(samples);
}

const Moment* Pusher::Oldest() const {
  if (!chunk_.empty()) return &chunk_.front();
  return queue_.empty() ? nullptr : &queue_.front();
}

// --------------------------------------------------------------- its figures

void Pusher::Publish() {
  const Moment* oldest = Oldest();
  figures_.through = oldest == nullptr ? read_ : oldest->event - 1;
  figures_.oldest_ms = oldest == nullptr ? 0 : oldest->ms;
}

void Pusher::AppendSamples(std::vector<SelfSample>* samples) const {
  const std::string to(sink_->name());
  const auto add = [&](Metric metric, double value) {
    samples->push_back({Name(metric), {{"to", to}}, value});
  };
  add(Metric::kPushSamples, static_cast<double>(figures_.taken));
  for (int i = 0; i < kDroppeds; ++i) {
    samples->push_back({Name(Metric::kPushDropped),
                        {{"to", to}, {"reason", std::string(NameOf(i))}},
                        static_cast<double>(figures_.dropped[i])});
  }
  add(Metric::kPushFailures, static_cast<double>(figures_.failures));
  const int64_t oldest = figures_.oldest_ms;
  add(Metric::kPushLagSeconds,
      oldest == 0 ? 0 : ToSeconds(clock_.Now() - FromMicros(oldest * 1000)));
  const uint64_t committed = committed_();
  const uint64_t through = figures_.through;
  add(Metric::kPushLagEvents,
      committed > through ? static_cast<double>(committed - through) : 0);
}

}  // namespace nanwatch
