// A history in a directory of its own, driven by hand, and events to put in.

#ifndef NANWATCH_TESTS_UNIT_HISTORY_HISTORY_FIXTURE_H_
#define NANWATCH_TESTS_UNIT_HISTORY_HISTORY_FIXTURE_H_

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "history/history.h"
#include "history/reader.h"
#include "wire/event_codec.h"

namespace nanwatch {

inline const Time kStart = FromMicros(1'700'000'000'000'000);

inline RunKey Job(int n = 7) { return {"job-" + std::to_string(n), 0}; }

inline Event EventOf(RunKey run, EventBody body, int32_t rank = -1) {
  Event event;
  event.run = std::move(run);
  event.rank = rank;
  event.session = 0xabc;
  event.body = std::move(body);
  return event;
}

inline Event Opened(const RunKey& run) {
  RunOpened opened;
  opened.description.job = "word2vec";
  opened.reason = "first rank";
  return EventOf(run, opened);
}

inline double LossAt(int64_t step) { return 10.0 / (1.0 + 1e-3 * step); }

// Steps first, first + 1, ... a millisecond apart: loss, scale, overflow.
inline Event Steps(const RunKey& run, int64_t first, int rows,
                   int32_t rank = 0) {
  StepBatch batch;
  StepColumns& columns = batch.columns;
  Column& loss = columns.field[static_cast<int>(StepField::kLoss)].emplace();
  Column& scale =
      columns.field[static_cast<int>(StepField::kLossScale)].emplace();
  FlagColumn& overflow =
      columns.flag[static_cast<int>(StepFlag::kOverflow)].emplace();
  for (int row = 0; row < rows; ++row) {
    const int64_t step = first + row;
    columns.step.push_back(step);
    columns.time.push_back(kStart + std::chrono::milliseconds(step));
    loss.values.push_back(LossAt(step));
    scale.values.push_back(65536);
    if (step % 1000 == 999) {
      overflow.values.resize((rows + 7) / 8);
      overflow.values[row / 8] |= 1 << row % 8;
    }
  }
  Event event = EventOf(run, std::move(batch), rank);
  event.sequence = first + 1;
  return event;
}

inline Event Checkpoint(const RunKey& run, std::string version = "v1") {
  return EventOf(run, RunCheckpoint{std::move(version), "state"});
}

// The bytes say all there is to an event.
inline std::string BytesOf(const Event& event) {
  std::string bytes;
  EncodeEvent(event, &bytes, Floats::kNarrow);
  return bytes;
}

class HistoryFixture : public ::testing::Test {
 protected:
  HistoryFixture() {
    std::string name = ::testing::TempDir() + "history-XXXXXX";
    directory_ = mkdtemp(name.data());
    options_.path = directory_ + "/history.db";
    options_.own_thread = false;
    Open();
  }
  ~HistoryFixture() override {
    history_.reset();
    std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(directory_);
  }

  void Open() {
    history_.reset();
    report_ = {};
    auto opened = History::Open(options_, clock_, &report_);
    ASSERT_TRUE(opened.ok()) << opened.error();
    history_ = std::move(*opened);
  }

  // Appends at the clock's time and remembers what a reader must find.
  void Put(std::vector<Event> events) {
    for (const Event& event : events) {
      put_.push_back({history_->last_id() + 1 + (&event - events.data()),
                      clock_.Now(), event});
    }
    ASSERT_TRUE(history_->Append(clock_.Now(), events));
  }
  void Put(Event event) { Put(std::vector<Event>{std::move(event)}); }
  void Commit() { history_->RunOnce(Duration(0)); }
  void PutAndCommit(Event event) {
    Put(std::move(event));
    Commit();
  }

  std::unique_ptr<HistoryReader> Reader() {
    auto reader = HistoryReader::Open(options_.path);
    EXPECT_TRUE(reader.ok()) << reader.error();
    return reader.ok() ? std::move(*reader) : nullptr;
  }
  std::vector<StampedEvent> ReadAll(
      uint64_t after = 0, const std::optional<RunKey>& run = std::nullopt) {
    std::vector<StampedEvent> events;
    const auto reader = Reader();
    if (reader == nullptr) return events;
    const Status read =
        reader->ForEachEvent(after, run, [&](const StampedEvent& stamped) {
          events.push_back(stamped);
          return true;
        });
    EXPECT_TRUE(read.ok()) << read.error();
    damaged_ = reader->damaged_events();
    return events;
  }
  std::vector<uint64_t> IdsForRestart(std::string_view version) {
    std::vector<uint64_t> ids;
    const Status read = Reader()->ForEachRestartEvent(
        version, [&](const StampedEvent& stamped) {
          ids.push_back(stamped.id);
          return true;
        });
    EXPECT_TRUE(read.ok()) << read.error();
    return ids;
  }
  // `events` are those that were put, from the first on, byte for byte.
  void ExpectAsPut(const std::vector<StampedEvent>& events) {
    ASSERT_EQ(events.size(), put_.size());
    for (size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].id, put_[i].id);
      ASSERT_EQ(events[i].now, put_[i].now);
      ASSERT_EQ(BytesOf(events[i].event), BytesOf(put_[i].event)) << i;
    }
  }

  ManualClock clock_{kStart};
  std::string directory_;
  HistoryOptions options_;
  OpenReport report_;
  std::unique_ptr<History> history_;
  std::vector<StampedEvent> put_;
  uint64_t damaged_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_HISTORY_HISTORY_FIXTURE_H_
