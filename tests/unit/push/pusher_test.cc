#include "push/pusher.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <map>

#include "history/history.h"

namespace nanwatch {
namespace {

using std::chrono::seconds;
using Verdict = SinkReply::Verdict;

// Keeps samples as Prometheus does: all of a request or nothing, and only what
// is later than what it has.
struct Kept {
  std::map<int64_t, double> losses;  // by time
  int64_t newest = 0;
  int requests = 0;
  int twice = 0;
  std::vector<int64_t> bad;  // times of losses that it never takes
  Verdict bad_verdict = Verdict::kRefused;
  std::deque<SinkReply> next;  // answers that it gives first
};

class OrderedStore : public Sink {
 public:
  explicit OrderedStore(Kept& kept) : kept_(kept) {}
  std::string_view name() const override { return "ordered"; }
  std::string address() const override { return "here"; }
  SinkReply Send(std::span<const Moment> moments) override {
    ++kept_.requests;
    if (!kept_.next.empty()) {
      const SinkReply reply = kept_.next.front();
      kept_.next.pop_front();
      return reply;
    }
    for (const Moment& moment : moments) {
      const bool loss = (moment.fields & 1) != 0;
      if (loss && std::ranges::count(kept_.bad, moment.ms) > 0) {
        return {kept_.bad_verdict, std::nullopt, "bad"};
      }
      if (loss && moment.ms < kept_.newest) {
        return {Verdict::kRefused, std::nullopt, "out of order"};
      }
    }
    for (const Moment& moment : moments) {
      if (moment.ends || (moment.fields & 1) == 0) continue;
      kept_.twice += !kept_.losses.emplace(moment.ms, moment.value[0]).second;
      kept_.newest = std::max(kept_.newest, moment.ms);
    }
    return {Verdict::kTaken, std::nullopt, ""};
  }
  bool Works(Time /*now*/) override { return true; }
  void Cancel() override {}

 private:
  Kept& kept_;
};

class PusherTest : public testing::Test {
 protected:
  PusherTest()
      : path_(testing::TempDir() + "pusher_" + std::to_string(getpid())),
        clock_(FromMicros(1'700'000'000'000'000)) {
    RemoveFiles();
    HistoryOptions options;
    options.path = path_;
    options.own_thread = false;
    OpenReport report;
    auto history = History::Open(options, clock_, &report);
    EXPECT_TRUE(history.ok());
    history_ = std::move(*history);
  }
  ~PusherTest() override {
    pusher_.reset();
    history_.reset();
    RemoveFiles();
  }

  void RemoveFiles() const {
    for (const char* end : {"", "-wal", "-shm", ".lock", ".ordered"}) {
      unlink((path_ + end).c_str());
    }
  }
  void StartPusher() {
    PushOptions options;
    options.max_age = std::chrono::hours(1);
    pusher_.reset();
    pusher_ = std::make_unique<Pusher>(
        options, path_, [this] { return history_->committed(); },
        std::make_unique<OrderedStore>(kept_), clock_);
  }
  // A batch of `rows`, a second each, the last of now.
  void Say(int rows) {
    StepBatch batch;
    Column loss;
    for (int i = rows - 1; i >= 0; --i) {
      batch.columns.step.push_back(++step_);
      batch.columns.time.push_back(clock_.Now() - i * seconds(1));
      loss.values.push_back(static_cast<double>(step_));
    }
    batch.columns.field[0] = std::move(loss);
    Event event;
    event.run = {"run", 0};
    event.rank = 0;
    event.sequence = static_cast<Sequence>(step_);
    event.body = std::move(batch);
    ASSERT_TRUE(history_->Append(clock_.Now(), {&event, 1}));
    history_->RunOnce(Duration(0));
  }
  void Turn(int turns = 40) {
    for (int i = 0; i < turns; ++i) {
      pusher_->RunOnce(Duration(0));
      clock_.Advance(seconds(6));
    }
  }
  double Figure(std::string_view name, std::string_view reason = "") {
    std::vector<SelfSample> samples;
    pusher_->AppendSamples(&samples);
    double sum = 0;
    for (const SelfSample& sample : samples) {
      if (sample.name != name) continue;
      if (!reason.empty() && sample.labels.back().second != reason) continue;
      sum += sample.value;
    }
    return sum;
  }

  const std::string path_;
  ManualClock clock_;
  Kept kept_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Pusher> pusher_;
  int64_t step_ = 0;
};

TEST_F(PusherTest, SendsAllOnceAndSaysHowFar) {
  StartPusher();
  Say(100);
  Turn();
  EXPECT_EQ(kept_.losses.size(), 100u);
  EXPECT_EQ(Figure("nanwatch_push_samples_total"), 200);
  EXPECT_EQ(Figure("nanwatch_push_lag_events"), 0);
  StartPusher();
  Say(3);
  Turn();
  EXPECT_EQ(kept_.losses.size(), 103u);
  EXPECT_EQ(kept_.twice, 0);
  EXPECT_EQ(Figure("nanwatch_push_dropped_samples_total"), 0);
}

TEST_F(PusherTest, WhatIsRefusedCostsNothingElse) {
  StartPusher();
  kept_.bad = {ToMicros(clock_.Now() - seconds(30)) / 1000};
  Say(100);
  Turn(400);
  EXPECT_EQ(kept_.losses.size(), 99u);
  // The loss alone: the number of its step was taken.
  EXPECT_EQ(Figure("nanwatch_push_dropped_samples_total", "refused"), 1);
  EXPECT_EQ(Figure("nanwatch_push_samples_total"), 199);
}

TEST_F(PusherTest, WhatAlwaysFailsIsTakenForRefusedWhereTheStoreWorks) {
  StartPusher();
  kept_.bad = {ToMicros(clock_.Now() - seconds(5)) / 1000};
  kept_.bad_verdict = Verdict::kFailed;
  Say(10);
  Turn(100);
  EXPECT_EQ(kept_.losses.size(), 9u);
  EXPECT_EQ(Figure("nanwatch_push_dropped_samples_total", "refused"), 1);
}

TEST_F(PusherTest, WaitsAsLongAsItIsAskedTo) {
  StartPusher();
  kept_.next = {{Verdict::kLater, seconds(60), "busy"}};
  Say(5);
  Turn(9);
  EXPECT_EQ(kept_.requests, 1);
  Turn(5);
  EXPECT_EQ(kept_.requests, 2);
  EXPECT_EQ(kept_.losses.size(), 5u);
}

TEST_F(PusherTest, WhatGrewTooOldIsGivenUp) {
  StartPusher();
  for (int i = 0; i < 20; ++i) {
    kept_.next.push_back({Verdict::kLater, seconds(600), "away"});
  }
  Say(5);
  Turn(1000);
  EXPECT_EQ(kept_.losses.size(), 0u);
  EXPECT_EQ(Figure("nanwatch_push_dropped_samples_total", "too_old"), 10);
  kept_.next.clear();
  Say(5);
  Turn();
  EXPECT_EQ(kept_.losses.size(), 5u);
}

TEST_F(PusherTest, ALargeBatchGoesOnWithinItAfterAKill) {
  StartPusher();
  Say(2500);  // three requests
  for (int i = 0; i < 2; ++i) pusher_->RunOnce(Duration(0));
  EXPECT_EQ(kept_.losses.size(), 2000u);
  StartPusher();
  Turn();
  EXPECT_EQ(kept_.losses.size(), 2500u);
  EXPECT_EQ(kept_.twice, 0);
  EXPECT_EQ(Figure("nanwatch_push_dropped_samples_total"), 0);
}

TEST_F(PusherTest, ADamagedCursorIsANewBeginning) {
  StartPusher();
  Say(5);
  Turn();
  pusher_.reset();
  FILE* file = fopen((path_ + ".ordered").c_str(), "w");
  fputs("\xff\xff no state", file);
  fclose(file);
  StartPusher();
  Turn(200);
  EXPECT_EQ(kept_.losses.size(), 5u);
}

}  // namespace
}  // namespace nanwatch
