// A history file that is cut or flipped anywhere: opening it never crashes, and
// what it gives is what was put in, with what is missing counted.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

std::string Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Store(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class HistoryDamageTest : public HistoryFixture {
 protected:
  // A small file of everything, and its log as a crash leaves it.
  HistoryDamageTest() {
    Put({EventOf({}, DaemonStarted{"v1"}), EventOf({}, RulesLoaded{}),
         Opened(Job(1)), Opened(Job(2))});
    Commit();
    for (int i = 0; i < 12; ++i) {
      Put({Steps(Job(1), i * 100, 100), Steps(Job(2), i * 7, 7)});
      if (i == 6) Put(Checkpoint(Job(1)));
      if (i % 3 == 2) Commit();
    }
    log_ = Load(options_.path + "-wal");
    bare_ = Load(options_.path);
    history_.reset();
    whole_ = Load(options_.path);
    here_ = directory_ + "/damaged.db";
    options_.path = here_;
  }

  void Lay(const std::string& database, const std::string& log) {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      std::filesystem::remove(entry.path());
    }
    Store(here_, database);
    if (!log.empty()) Store(here_ + "-wal", log);
  }

  void ExpectNothingInvented(const std::vector<StampedEvent>& events) {
    uint64_t last = 0;
    for (const StampedEvent& event : events) {
      ASSERT_GT(event.id, last);
      ASSERT_LE(event.id, put_.size());
      ASSERT_EQ(event.now, put_[event.id - 1].now);
      ASSERT_EQ(BytesOf(event.event), BytesOf(put_[event.id - 1].event));
      last = event.id;
    }
  }

  void Look() {
    auto reader = HistoryReader::Open(here_);
    if (!reader.ok()) {
      EXPECT_FALSE(reader.error().empty());
      return;
    }
    std::vector<StampedEvent> events;
    const auto take = [&](const StampedEvent& event) {
      events.push_back(event);
      return true;
    };
    const Status read = (*reader)->ForEachEvent(0, std::nullopt, take);
    ExpectNothingInvented(events);
    // A prefix, or a gap that is counted.
    if (read && !events.empty()) {
      EXPECT_LE(events.back().id - events.size(), (*reader)->damaged_events());
    }
    events.clear();
    (void)(*reader)->ForEachRestartEvent("v1", take);
    ExpectNothingInvented(events);
    (void)(*reader)->Runs();
    (void)(*reader)->Sent();
    LookAtPicture(**reader);
  }

  void LookAtPicture(HistoryReader& reader) {
    StepQuery query;
    query.run = Job(1);
    query.points = 100;
    const auto drawn = reader.Steps(query);
    if (!drawn.ok()) return;
    for (const StepBucket& bucket : *drawn) {
      const StepBucket::Value& loss = bucket.value[0];
      ASSERT_LE(loss.max, LossAt(0));
      ASSERT_GE(loss.min, LossAt(1200));
      ASSERT_LE(bucket.records, 1200u);
    }
  }

  // The daemon's way: it starts whatever there is, and goes on.
  void Start() {
    Open();
    ASSERT_FALSE(report_.degraded) << report_.message;
    EXPECT_TRUE(report_.set_aside.empty() || !report_.message.empty());
    auto events = ReadAll();
    ExpectNothingInvented(events);
    const Event more = Opened(Job(3));
    ASSERT_TRUE(history_->Append(clock_.Now(), std::span(&more, 1)));
    Commit();
    EXPECT_FALSE(history_->stats().degraded);
    EXPECT_EQ(ReadAll().size(), events.size() + 1);
    history_.reset();
  }

  std::string whole_;  // closed in good order
  std::string bare_;   // beside its log
  std::string log_;
  std::string here_;
};

TEST_F(HistoryDamageTest, UndamagedItIsWhole) {
  Lay(bare_, log_);
  ExpectAsPut(ReadAll());
  Lay(whole_, "");
  ExpectAsPut(ReadAll());
  EXPECT_EQ(damaged_, 0u);
}

TEST_F(HistoryDamageTest, ReadingAFileCutAnywhere) {
  for (size_t size = whole_.size() - 1; size > 0;
       size -= std::min<size_t>(size, size < 200 ? 1 : 61)) {
    SCOPED_TRACE(size);
    Lay(whole_.substr(0, size), "");
    Look();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(HistoryDamageTest, ReadingAFileWithABitFlippedAnywhere) {
  std::mt19937_64 random(1);
  for (size_t at = 0; at < whole_.size(); at += at < 200 ? 1 : 23) {
    SCOPED_TRACE(at);
    std::string damaged = whole_;
    damaged[at] ^= 1 << random() % 8;
    Lay(damaged, "");
    Look();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(HistoryDamageTest, ReadingALogCutOrFlippedAnywhereGivesAPrefix) {
  for (size_t at = 0; at < log_.size(); at += at < 200 ? 1 : 127) {
    SCOPED_TRACE(at);
    std::string flipped = log_;
    flipped[at] ^= 0x10;
    for (const std::string& log : {log_.substr(0, at), flipped}) {
      Lay(bare_, log);
      Look();
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_F(HistoryDamageTest, TheDaemonStartsWithWhateverIsThere) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    std::string database = i % 3 == 2 ? bare_ : whole_;
    std::string log = i % 3 == 2 ? log_ : "";
    std::string& damaged = i % 3 == 2 ? log : database;
    const size_t at = random() % damaged.size();
    if (i % 2 == 0) {
      damaged.resize(at);
    } else {
      for (size_t k = at; k < std::min(at + 600, damaged.size()); ++k) {
        damaged[k] = static_cast<char>(random());
      }
    }
    Lay(database, log);
    Start();
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace nanwatch
