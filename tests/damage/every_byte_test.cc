// A small history with everything in it, cut at every byte and flipped at every
// byte, the database and its log. Whatever is read back is what was written;
// what lies in other pages, or was committed before, is all there; and what is
// gone is said.
//
// Every byte with NANWATCH_TEST_ALL=1 (some minutes), else a sample of them.
// The sample and the bits that flip come from one seed: NANWATCH_SEED.

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <set>

#include "history/database.h"
#include "history/event_blob.h"
#include "tests/damage/event_pages.h"
#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

constexpr size_t kSample = 250;

bool All() {
  const char* all = std::getenv("NANWATCH_TEST_ALL");
  return all != nullptr && *all != '\0';
}

uint64_t Seed() {
  const char* seed = std::getenv("NANWATCH_SEED");
  return seed == nullptr ? 20 : std::strtoull(seed, nullptr, 10);
}

std::string Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Store(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Event Ops(const RunKey& run, int64_t first, int rows) {
  OpBatch batch;
  for (int i = 0; i < rows; ++i) {
    batch.columns.AddGroup(first + i / 2,
                           kStart + std::chrono::milliseconds(i));
    batch.columns.op.push_back(i % 2);
    batch.columns.slot.push_back(Slot::kOutput);
    batch.columns.elements.push_back(4096 + i);
  }
  return EventOf(run, std::move(batch), 0);
}

class EveryByteTest : public HistoryFixture {
 protected:
  EveryByteTest() : random_(Seed()) {
    std::cout << "seed " << Seed() << " (NANWATCH_SEED)\n";
    // Opened ten thousand times: in memory where there is such a place.
    history_.reset();
    std::filesystem::remove_all(directory_);
    std::string name = "/dev/shm/history-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      name = ::testing::TempDir() + "history-XXXXXX";
      EXPECT_NE(mkdtemp(name.data()), nullptr);
    }
    directory_ = name;
    here_ = options_.path = directory_ + "/history.db";
    MakeSmallPages();
    Open();
    Fill();
    log_ = Load(options_.path + "-wal");
    bare_ = Load(options_.path);
    history_.reset();
    whole_ = Load(options_.path);
    FindRows();
    restart_ = IdsForRestart("v1");
  }

  // Many of the smallest that SQLite has, so that few bytes have every kind.
  void MakeSmallPages() {
    auto database = Database::Open(options_.path, Database::Mode::kWrite, "");
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(
        database->Execute("PRAGMA page_size = 512; PRAGMA user_version = 0"));
  }

  // One transaction.
  void Transact(std::vector<Event> events) {
    Put(std::move(events));
    Commit();
    committed_.push_back(
        {std::filesystem::file_size(options_.path + "-wal"), put_.size()});
  }

  void Fill() {
    RankOpened rank;
    rank.rank.host = "node-1";
    OpNamesAdded names;
    names.names.ops.resize(2);
    names.names.ops[0].name = "fc1";
    names.names.ops[1].name = "loss/Log";
    Transact({EventOf({}, DaemonStarted{"v1"}), EventOf({}, RulesLoaded{}),
              Opened(Job(1)), EventOf(Job(1), rank, 0),
              EventOf(Job(1), names, 0), Opened(Job(2))});
    Incident incident;
    incident.id = 77;
    incident.summary = "Overflow at every step.";
    history_->SaveSent(Job(1), incident);
    for (int i = 0; i < 6; ++i) {
      Transact({Steps(Job(1), i * 60, 60), Steps(Job(2), i * 7, 7),
                Ops(Job(1), i * 20, 40),
                EventOf(Job(2), Dropped{3, 0, i * 7, i * 7 + 2}, 0)});
    }
    Transact(
        {Checkpoint(Job(1)), EventOf(Job(2), RankLost{"the stream ended"}, 0)});
    Annotation mute;
    mute.by = "somebody";
    Transact({EventOf(Job(1), mute), EventOf(Job(1), RankClosed{}, 0),
              EventOf(Job(1), RunClosed{"all ranks closed"})});
    Transact({Steps(Job(2), 42, 300)});
  }

  void FindRows() {
    auto database = Database::Open(here_, Database::Mode::kRead, "");
    ASSERT_TRUE(database.ok());
    const auto root = database->Number(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'events'");
    ASSERT_TRUE(root.ok());
    root_ = static_cast<uint32_t>(*root);
    pages_.emplace(whole_, root_);
    auto rows = database->Prepare("SELECT first_id, body FROM events");
    ASSERT_TRUE(rows.ok());
    Decompressor decompressor;
    std::string plain;
    StampedEvent event;
    while (*rows->Next()) {
      ASSERT_TRUE(decompressor.Decompress(rows->Blob(1), &plain));
      BlobReader reader(plain);
      while (reader.Next(&event)) events_of_[rows->Int(0)].push_back(event.id);
    }
    ASSERT_EQ(events_of_.size(), pages_->rows().size());
    ASSERT_GT(pages_->inner().size(), 1u);  // also a page above the leaves
  }

  // Offsets of a file, all or some.
  std::vector<size_t> Places(size_t size) {
    std::vector<size_t> places;
    if (All() || size <= kSample) {
      for (size_t at = 0; at < size; ++at) places.push_back(at);
    } else {
      for (size_t i = 0; i < kSample; ++i) places.push_back(random_() % size);
    }
    return places;
  }
  // Besides: each byte of the file's header and of the page without which no
  // event is found.
  std::vector<size_t> PlacesToFlip() {
    std::vector<size_t> places = Places(whole_.size());
    if (All()) return places;
    const size_t header = 100;
    for (size_t at = 0; at < header; ++at) places.push_back(at);
    const size_t end = size_t{root_} * pages_->page_bytes();
    for (size_t at = end - pages_->page_bytes(); at < end; ++at) {
      if (whole_[at] != 0) places.push_back(at);
    }
    return places;
  }
  std::string Flipped(std::string bytes, size_t at) {
    bytes[at] ^= 1 << random_() % 8;
    return bytes;
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
      ASSERT_GT(event.id, last) << "doubled, or out of order";
      ASSERT_LE(event.id, put_.size());
      ASSERT_EQ(event.now, put_[event.id - 1].now);
      ASSERT_TRUE(BytesOf(event.event) == BytesOf(put_[event.id - 1].event));
      last = event.id;
    }
  }

  static std::set<uint64_t> IdsOf(const std::vector<StampedEvent>& events) {
    std::set<uint64_t> ids;
    for (const StampedEvent& event : events) ids.insert(event.id);
    return ids;
  }

  // Nothing but what lies in the pages from `first` to `last` is missing.
  void ExpectOthersKept(const std::vector<StampedEvent>& events, uint32_t first,
                        uint32_t last) {
    const std::set<uint64_t> there = IdsOf(events);
    for (const uint64_t row : pages_->RowsWithout(first, last)) {
      for (const uint64_t id : events_of_[row]) {
        ASSERT_EQ(there.count(id), 1u)
            << "event " << id << " is in no page of " << first << ".." << last;
      }
    }
  }

  // As anybody reads it, `replay` and `export` too. False: not at all.
  bool Read(std::vector<StampedEvent>* events) {
    const auto take = [&](const StampedEvent& event) {
      events->push_back(event);
      return true;
    };
    auto reader = HistoryReader::Open(here_);
    if (!reader.ok()) {
      EXPECT_FALSE(reader.error().empty());
      return false;
    }
    (void)(*reader)->ForEachRestartEvent("v1", take);
    ExpectNothingInvented(*events);
    events->clear();
    const Status read = (*reader)->ForEachEvent(0, std::nullopt, take);
    ExpectNothingInvented(*events);
    if (read && !events->empty()) {
      EXPECT_LE(events->back().id - events->size(),
                (*reader)->damaged_events());
    }
    (void)(*reader)->Runs();
    (void)(*reader)->Sent();
    return read.ok();
  }

  // The daemon's way: it starts whatever there is, says what is gone, and goes
  // on. Gives what it has.
  std::vector<StampedEvent> Start() {
    Open();
    EXPECT_FALSE(report_.degraded) << report_.message;
    EXPECT_TRUE(report_.set_aside.empty() || !report_.message.empty());
    auto events = ReadAll();
    ExpectNothingInvented(events);
    const bool silent = report_.message.empty() && damaged_ == 0;
    const Event more = Opened(Job(3));
    EXPECT_TRUE(history_->Append(clock_.Now(), std::span(&more, 1)));
    Commit();
    EXPECT_FALSE(history_->stats().degraded);
    const auto after = ReadAll();
    EXPECT_EQ(after.size(), events.size() + 1);
    EXPECT_TRUE(BytesOf(after.back().event) == BytesOf(more));
    if (silent) ExpectRestartIsWhole(events);
    history_.reset();
    return events;
  }
  // Nothing was said: then a restart gets what it always did, but for runs that
  // ended long ago by what is left of their row.
  void ExpectRestartIsWhole(const std::vector<StampedEvent>& events) {
    if (events.size() != put_.size()) return;
    const std::vector<uint64_t> ids = IdsForRestart("v1");
    const auto past = RunsOfThePast();
    for (const uint64_t id : restart_) {
      if (past.count(put_.at(id - 1).event.run) != 0) continue;
      EXPECT_THAT(ids, ::testing::Contains(id)) << "a restart misses it";
    }
  }
  std::set<RunKey> RunsOfThePast() {
    std::set<RunKey> past;
    const auto runs = Reader()->Runs();
    EXPECT_TRUE(runs.ok());
    if (!runs.ok()) return past;
    Time newest = clock_.Now();
    for (const RunRow& run : *runs) newest = std::max(newest, run.opened);
    for (const RunRow& run : *runs) {
      if (run.ended && *run.ended + std::chrono::hours(1) < newest) {
        past.insert(run.key);
      }
    }
    return past;
  }

  // Of what was committed before byte `at` of the log was written.
  size_t CommittedBefore(size_t at) const {
    size_t events = 0;
    for (const auto& [bytes, count] : committed_) {
      if (bytes <= at) events = count;
    }
    return events;
  }
  size_t FrameAt(size_t at) const {
    const size_t frame = 24 + pages_->page_bytes();
    return at < 32 ? 0 : 32 + (at - 32) / frame * frame;
  }

  std::mt19937_64 random_;
  std::string whole_;  // closed in good order
  std::string bare_;   // beside its log
  std::string log_;
  std::string here_;
  // Size of the log, and events, after each transaction.
  std::vector<std::pair<size_t, size_t>> committed_;
  std::optional<EventPages> pages_;
  std::map<uint64_t, std::vector<uint64_t>> events_of_;  // a row
  uint32_t root_ = 0;  // first page of the table `events`
  std::vector<uint64_t> restart_;
};

TEST_F(EveryByteTest, UndamagedItIsWhole) {
  std::cout << whole_.size() << " bytes, log " << log_.size() << " bytes, "
            << put_.size() << " events\n";
  Lay(bare_, log_);
  ExpectAsPut(Start());
  EXPECT_EQ(report_.message, "");
  Lay(whole_, "");
  ExpectAsPut(Start());
  EXPECT_EQ(report_.message, "");
}

TEST_F(EveryByteTest, ADatabaseCut) {
  const uint32_t pages = whole_.size() / pages_->page_bytes();
  for (const size_t size : Places(whole_.size())) {
    SCOPED_TRACE(size);
    const std::string cut = whole_.substr(0, size);
    const uint32_t first = size / pages_->page_bytes() + 1;
    Lay(cut, "");
    std::vector<StampedEvent> events;
    if (Read(&events)) ExpectOthersKept(events, first, pages);
    Lay(cut, "");
    events = Start();
    ExpectOthersKept(events, first, pages);
    // Zeros that the last page ends with are read as such without being there.
    const bool lost = whole_.find_first_not_of('\0', size) != std::string::npos;
    if (size != 0 && lost) {
      EXPECT_FALSE(report_.message.empty());
    }
    ASSERT_FALSE(HasFailure()) << report_.message;
  }
}

TEST_F(EveryByteTest, ADatabaseFlipped) {
  for (const size_t at : PlacesToFlip()) {
    SCOPED_TRACE(at);
    const std::string flipped = Flipped(whole_, at);
    const uint32_t page = at / pages_->page_bytes() + 1;
    Lay(flipped, "");
    std::vector<StampedEvent> events;
    const bool read = Read(&events);
    EXPECT_TRUE(read || pages_->inner().count(page) != 0);
    if (read) ExpectOthersKept(events, page, page);
    Lay(flipped, "");
    events = Start();
    ExpectOthersKept(events, page, page);
    if (events.size() < put_.size()) {
      EXPECT_TRUE(!report_.message.empty() || damaged_ != 0)
          << put_.size() - events.size() << " events are gone in silence";
    }
    ASSERT_FALSE(HasFailure()) << "page " << page << ": " << report_.message;
  }
}

TEST_F(EveryByteTest, ALogCut) {
  for (const size_t size : Places(log_.size())) {
    SCOPED_TRACE(size);
    Lay(bare_, log_.substr(0, size));
    EXPECT_EQ(Start().size(), CommittedBefore(size));
    EXPECT_TRUE(report_.set_aside.empty());
    ASSERT_FALSE(HasFailure()) << report_.message;
  }
}

TEST_F(EveryByteTest, ALogFlipped) {
  for (const size_t at : Places(log_.size())) {
    SCOPED_TRACE(at);
    Lay(bare_, Flipped(log_, at));
    const auto events = Start();
    EXPECT_EQ(events.size(), CommittedBefore(FrameAt(at)));
    EXPECT_THAT(report_.message, ::testing::HasSubstr("-wal is damaged"));
    EXPECT_TRUE(report_.set_aside.empty());
    ASSERT_FALSE(HasFailure()) << report_.message;
  }
}

// What somebody has who copied the file of a running daemon, and not its log.
TEST_F(EveryByteTest, ACopyWithoutItsLogSaysSo) {
  Lay(bare_, "");
  auto reader = HistoryReader::Open(here_);
  ASSERT_TRUE(reader.ok()) << reader.error();
  EXPECT_THAT((*reader)->missing(), ::testing::HasSubstr("-wal is not beside"));
  *reader = nullptr;  // leaves a log of no bytes behind
  EXPECT_TRUE(Start().empty());
  EXPECT_THAT(report_.message, ::testing::HasSubstr("-wal is not beside it"));
  // Once: it is a file of its own from here on.
  Open();
  EXPECT_EQ(report_.message, "");
}

TEST_F(EveryByteTest, AFileClosedInGoodOrderNeedsNoLog) {
  Lay(whole_, "");
  auto reader = HistoryReader::Open(here_);
  ASSERT_TRUE(reader.ok()) << reader.error();
  EXPECT_EQ((*reader)->missing(), "");
}

}  // namespace
}  // namespace nanwatch
