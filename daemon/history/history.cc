#include "history/history.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <thread>
#include <utility>
#include <variant>

#include "base/mailbox.h"
#include "base/published.h"
#include "history/history_file.h"
#include "model/limits.h"

namespace nanwatch {

namespace {

constexpr Duration kIdleWait = std::chrono::seconds(1);
constexpr Duration kUpkeepInterval = std::chrono::seconds(1);
constexpr Duration kCloseWait = std::chrono::seconds(2);

// What a batch weighs in memory, roughly.
size_t EventWeight(const Event& event) {
  size_t weight = sizeof(Event);
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    const StepColumns& columns = steps->columns;
    size_t row = 16;
    for (const auto& field : columns.field) row += field ? 8 : 0;
    weight += columns.rows() * row +
              columns.float_status.size() * sizeof(FloatStatus) +
              columns.layer_scales.size() * sizeof(LayerScale);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    size_t row = 32;
    for (const auto& stat : ops->columns.stat) row += stat ? 4 : 0;
    weight += ops->columns.rows() * row +
              ops->columns.sketches.values.size() * sizeof(float);
    for (const auto& counts : ops->columns.exponents) {
      weight += counts.counts.size() * 8;
    }
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    weight += names->names.ops.size() * (sizeof(OpName) + 64);
  } else if (const auto* state = std::get_if<RunCheckpoint>(&event.body)) {
    weight += state->state.size();
  }
  return weight;
}

class StoredHistory : public History {
 public:
  StoredHistory(const HistoryOptions& options, Clock& clock)
      : options_(options),
        clock_(clock),
        file_(options),
        queue_(SIZE_MAX, options.queue_bytes),
        need_checkpoint_(std::make_shared<const std::vector<RunKey>>()),
        stats_(std::make_shared<const HistoryStats>()),
        gaps_(std::make_shared<const HistoryFile::Gaps>()) {}
  ~StoredHistory() override { Close(); }

  Status Start(OpenReport* report);
  bool Append(Time now, SharedEvents events) override;
  uint64_t last_id() const override { return last_id_; }
  uint64_t committed() const override { return committed_.load(); }
  bool Stored(uint64_t id) const override;
  void OnCommitted(std::function<void(uint64_t)> callback) override {
    on_committed_ = std::move(callback);
  }
  void SaveSent(const RunKey& run, const Incident& incident) override;
  std::vector<RunKey> NeedCheckpoint() const override {
    return *need_checkpoint_.Get();
  }
  void RunOnce(Duration wait) override;
  void Close() override;
  HistoryStats stats() const override;

 private:
  // What waits for the commit; `events` null: an incident.
  struct Waiting {
    uint64_t first_id = 0;
    Time now{};
    SharedEvents events;
    std::optional<SentIncident> sent;
    size_t weight = 0;
  };

  void Gather();
  void CommitAll();
  void CommitSome(size_t begin, size_t end);
  void Publish();

  const HistoryOptions options_;
  Clock& clock_;

  // The pipeline thread's.
  uint64_t last_id_ = 0;
  // Incidents that found the queue full, oldest first.
  std::deque<Waiting> refused_;

  // Set before Append.
  std::function<void(uint64_t)> on_committed_;

  // The history thread's.
  HistoryFile file_;
  std::vector<Waiting> waiting_;
  std::vector<Waiting> more_;
  std::vector<WriteItem> items_;
  std::vector<SentIncident> sent_;
  Time last_upkeep_{};

  // Their own synchronization.
  Mailbox<Waiting> queue_;
  // Nothing is ever in it: closing it ends a wait that new events must not end.
  Mailbox<std::monostate> closing_{1, 1};
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> queue_bytes_{0};
  std::atomic<bool> stop_{false};
  Published<std::vector<RunKey>> need_checkpoint_;
  Published<HistoryStats> stats_;
  Published<HistoryFile::Gaps> gaps_;
  std::thread thread_;
};

Status StoredHistory::Start(OpenReport* report) {
  const Time now = clock_.Now();
  if (Status s = file_.Open(now, report); !s) return s;
  last_id_ = file_.newest_id();
  committed_.store(last_id_);
  last_upkeep_ = now;
  Publish();
  if (options_.own_thread) {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "nw-history");
      while (!stop_.load()) RunOnce(kIdleWait);
    });
  }
  return OkStatus();
}

bool StoredHistory::Append(Time now, SharedEvents events) {
  while (!refused_.empty()) {
    const size_t weight = refused_.front().weight;
    if (!queue_.TryPush(std::move(refused_.front()), weight)) return false;
    refused_.pop_front();
  }
  if (events->empty()) return true;
  Waiting waiting;
  waiting.first_id = last_id_ + 1;
  waiting.now = now;
  for (const Event& event : *events) waiting.weight += EventWeight(event);
  const size_t weight = waiting.weight;
  const size_t count = events->size();
  waiting.events = std::move(events);
  // Before the push: the other thread may subtract at once.
  queue_bytes_.fetch_add(weight);
  if (!queue_.TryPush(std::move(waiting), weight)) {
    queue_bytes_.fetch_sub(weight);
    return false;
  }
  last_id_ += count;
  return true;
}

void StoredHistory::SaveSent(const RunKey& run, const Incident& incident) {
  Waiting waiting;
  waiting.sent = SentIncident{run, incident};
  waiting.weight = sizeof(Incident) + incident.findings.size() * 512;
  const size_t weight = waiting.weight;
  queue_bytes_.fetch_add(weight);
  // Behind those that wait, so that the newest state is written last.
  // What was not pushed was not moved either.
  if (!refused_.empty() || !queue_.TryPush(std::move(waiting), weight)) {
    refused_.push_back(std::move(waiting));  // NOLINT(bugprone-use-after-move)
  }
}

void StoredHistory::RunOnce(Duration wait) {
  // Retention that fell behind goes on between commits.
  queue_.PopAll(file_.behind() ? Duration(0) : wait, &waiting_);
  if (!waiting_.empty()) {
    Gather();
    CommitAll();
  }
  const Time now = clock_.Now();
  if (file_.behind() || now - last_upkeep_ >= kUpkeepInterval) {
    last_upkeep_ = now;
    file_.Upkeep(now);
    Publish();
  }
}

// Lets a transaction fill up. A plain wait: being woken by each batch would
// cost the pipeline more than the batch.
void StoredHistory::Gather() {
  if (!options_.own_thread) return;
  size_t bytes = 0;
  for (const Waiting& waiting : waiting_) bytes += waiting.weight;
  if (bytes >= options_.commit_bytes || stop_.load()) return;
  std::vector<std::monostate> nothing;
  closing_.PopAll(options_.commit_interval, &nothing);
  queue_.PopAll(Duration(0), &more_);
  std::move(more_.begin(), more_.end(), std::back_inserter(waiting_));
}

void StoredHistory::CommitAll() {
  size_t begin = 0;
  while (begin < waiting_.size()) {
    size_t end = begin;
    size_t bytes = 0;
    while (end < waiting_.size() && bytes < options_.commit_bytes) {
      bytes += waiting_[end++].weight;
    }
    CommitSome(begin, end);
    begin = end;
  }
  waiting_.clear();
}

void StoredHistory::CommitSome(size_t begin, size_t end) {
  items_.clear();
  sent_.clear();
  size_t bytes = 0;
  for (size_t i = begin; i < end; ++i) {
    Waiting& waiting = waiting_[i];
    bytes += waiting.weight;
    if (waiting.sent) sent_.push_back(std::move(*waiting.sent));
    if (waiting.events == nullptr) continue;
    uint64_t id = waiting.first_id;
    for (const Event& event : *waiting.events) {
      items_.push_back({id++, waiting.now, &event});
    }
  }
  file_.Commit(clock_.Now(), items_, sent_);
  for (size_t i = begin; i < end; ++i) waiting_[i].events.reset();
  queue_bytes_.fetch_sub(bytes);
  Publish();
  if (items_.empty()) return;
  // Before the ids count as committed.
  if (file_.gaps() != *gaps_.Get()) {
    gaps_.Set(std::make_shared<const HistoryFile::Gaps>(file_.gaps()));
  }
  committed_.store(items_.back().id);
  if (on_committed_) on_committed_(items_.back().id);
}

void StoredHistory::Publish() {
  stats_.Set(std::make_shared<const HistoryStats>(file_.stats()));
  if (file_.TakeNeedChanged()) {
    need_checkpoint_.Set(
        std::make_shared<const std::vector<RunKey>>(file_.NeedCheckpoint()));
  }
}

void StoredHistory::Close() {
  if (stop_.exchange(true)) return;
  queue_.Wake();
  closing_.Close();
  if (thread_.joinable()) thread_.join();
  // What was refused found the queue full; it is empty soon.
  queue_.PopAll(Duration(0), &waiting_);
  std::move(refused_.begin(), refused_.end(), std::back_inserter(waiting_));
  refused_.clear();
  const Time until = clock_.Now() + kCloseWait;
  if (!waiting_.empty() && clock_.Now() < until) CommitAll();
  queue_.Close();
  file_.Finish(clock_.Now());
}

bool StoredHistory::Stored(uint64_t id) const {
  for (const auto& [first, last] : *gaps_.Get()) {
    if (first <= id && id <= last) return false;
  }
  return true;
}

HistoryStats StoredHistory::stats() const {
  HistoryStats stats = *stats_.Get();
  stats.queue_bytes = queue_bytes_.load();
  return stats;
}

}  // namespace

Result<std::unique_ptr<History>> History::Open(const HistoryOptions& options,
                                               Clock& clock,
                                               OpenReport* report) {
  auto history = std::make_unique<StoredHistory>(options, clock);
  if (Status s = history->Start(report); !s) return Error{s.error()};
  return std::unique_ptr<History>(std::move(history));
}

}  // namespace nanwatch
