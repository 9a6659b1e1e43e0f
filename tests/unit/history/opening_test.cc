#include "history/opening.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class OpeningTest : public HistoryFixture {
 protected:
  void Write(const std::string& bytes) {
    history_.reset();
    std::filesystem::remove(options_.path + "-wal");
    std::filesystem::remove(options_.path + "-shm");
    std::ofstream(options_.path, std::ios::binary) << bytes;
  }
  void Execute(const std::string& sql) {
    history_.reset();
    auto database = Database::Open(options_.path, Database::Mode::kWrite, "");
    ASSERT_TRUE(database.ok());
    const Status done = database->Execute(sql);
    ASSERT_TRUE(done.ok()) << done.error();
  }
};

TEST_F(OpeningTest, AnotherProgramsFileIsSetAside) {
  Write("a diary, not a database\n");
  Open();
  EXPECT_TRUE(report_.created);
  EXPECT_THAT(report_.set_aside, HasSubstr(".foreign-"));
  EXPECT_THAT(report_.message, HasSubstr("not an SQLite database"));
  EXPECT_TRUE(std::filesystem::exists(report_.set_aside));
  EXPECT_THAT(history_->stats().set_aside, ElementsAre(0u, 1u, 0u));
  PutAndCommit(Opened(Job()));
  EXPECT_EQ(ReadAll().size(), 1u);
}

TEST_F(OpeningTest, AnotherProgramsDatabaseIsSetAside) {
  Write("");
  std::filesystem::remove(options_.path);
  Execute("CREATE TABLE t (x); INSERT INTO t VALUES (1);");
  Open();
  EXPECT_THAT(report_.set_aside, HasSubstr(".foreign-"));
}

TEST_F(OpeningTest, ANewerFileIsSetAsideUntouched) {
  PutAndCommit(Opened(Job()));
  Execute("PRAGMA user_version = 2");
  Open();
  EXPECT_THAT(report_.set_aside, HasSubstr(".newer-"));
  EXPECT_THAT(report_.message, HasSubstr("newer nanwatch"));
  EXPECT_THAT(history_->stats().set_aside, ElementsAre(0u, 0u, 1u));
  EXPECT_EQ(history_->stats().lost_events, 0u);
  auto reader = HistoryReader::Open(report_.set_aside);
  ASSERT_FALSE(reader.ok());
  EXPECT_THAT(reader.error(), HasSubstr("newer"));
}

TEST_F(OpeningTest, AnEmptyFileIsBegun) {
  Write("");
  Open();
  EXPECT_TRUE(report_.created);
  EXPECT_TRUE(report_.set_aside.empty());
  EXPECT_THAT(history_->stats().set_aside, ElementsAre(0u, 0u, 0u));
}

TEST_F(OpeningTest, OursWithoutItsFirstBytesIsDamagedNotForeign) {
  PutAndCommit(Opened(Job()));
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  {
    std::fstream file(options_.path,
                      std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(4, '\0');
  }
  Open();
  EXPECT_THAT(report_.set_aside, HasSubstr(".damaged-"));
  EXPECT_THAT(report_.message, HasSubstr("its first bytes are damaged"));
  EXPECT_THAT(report_.message, HasSubstr("Nothing could be read back"));
  EXPECT_THAT(history_->stats().set_aside, ElementsAre(1u, 0u, 0u));
}

TEST_F(OpeningTest, ADamagedFileIsSetAsideAndReadBack) {
  Put(Opened(Job()));
  for (int i = 0; i < 200; ++i) {
    Put(Steps(Job(), i * 100, 100));
    if (i % 10 == 9) Commit();
  }
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto size = std::filesystem::file_size(options_.path);
  {
    std::fstream file(options_.path,
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<int64_t>(size * 3 / 4 / 4096 * 4096));
    file << std::string(8192, '\xa5');
  }
  Open();
  EXPECT_THAT(report_.set_aside, HasSubstr(".damaged-"));
  const auto events = ReadAll();
  EXPECT_GT(events.size(), 50u);
  const uint64_t lost = history_->stats().lost_events;
  EXPECT_EQ(lost, events.back().id - events.size());
  EXPECT_GT(lost, 0u);
  EXPECT_THAT(report_.message,
              HasSubstr(std::to_string(events.size()) +
                        " events could be read back, " + std::to_string(lost) +
                        " events before the last of them are gone"));
  EXPECT_THAT(history_->stats().set_aside, ElementsAre(1u, 0u, 0u));
  EXPECT_LT(events.size(), put_.size());
  for (const StampedEvent& event : events) {
    ASSERT_LE(event.id, put_.size());
    EXPECT_EQ(BytesOf(event.event), BytesOf(put_[event.id - 1].event));
  }
  EXPECT_THAT(IdsForRestart("v1"), ::testing::SizeIs(events.size()));
}

// Of what was cut off nothing is left to count: between what can be read holes
// are counted, behind it they are only known to be there.
TEST_F(OpeningTest, ACutFileSaysWhereWhatIsLeftEnds) {
  Put(Opened(Job()));
  for (int i = 0; i < 400; ++i) {
    clock_.Advance(std::chrono::seconds(1));
    PutAndCommit(Steps(Job(), i * 500, 500));
  }
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const uint64_t whole = std::filesystem::file_size(options_.path);
  std::ifstream file(options_.path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  int behind = 0;
  for (uint64_t left = whole - 4096; left > whole / 8; left -= whole / 8) {
    left = left / 4096 * 4096;
    SCOPED_TRACE(left);
    std::filesystem::resize_file(options_.path, left);
    Open();
    EXPECT_THAT(report_.message,
                HasSubstr("was cut: " + std::to_string(left) + " of its " +
                          std::to_string(whole) + " bytes are there"));
    const auto events = ReadAll();
    if (events.empty()) {
      EXPECT_THAT(report_.message, HasSubstr("Not one event can be read"));
      EXPECT_THAT(report_.message,
                  Not(HasSubstr("before the last of them are gone")));
    } else if (events.back().id < put_.size()) {
      ++behind;
      EXPECT_THAT(report_.message, HasSubstr("Whatever came after event " +
                                             std::to_string(events.back().id) +
                                             " of 2023-11-14 22:"));
    } else {  // another table's page was at the end
      EXPECT_THAT(report_.message, Not(HasSubstr("Whatever came")));
    }
    Write(bytes);
  }
  EXPECT_GT(behind, 0);
}

TEST_F(OpeningTest, ADirectoryThatIsMissingIsAnError) {
  options_.path = directory_ + "/none/history.db";
  auto opened = History::Open(options_, clock_, &report_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error(), HasSubstr("does not exist"));
}

TEST_F(OpeningTest, ASecondProcessIsRefused) {
  auto second = History::Open(options_, clock_, &report_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error(), HasSubstr("another process"));
}

// Somebody else's hands, while it is open.
class HandsTest : public OpeningTest {
 protected:
  HandsTest() {
    Put({Opened(Job()), Steps(Job(), 0, 50)});
    Commit();
  }
  // The next commit finds out; nothing of it is lost, and of what was there
  // before `lost` events.
  void ExpectGoesOn(std::initializer_list<uint64_t> ids, uint64_t lost = 0) {
    Put(Steps(Job(), 50, 10));
    Commit();
    EXPECT_FALSE(history_->stats().degraded);
    EXPECT_EQ(history_->stats().failures, 1u);
    EXPECT_EQ(history_->stats().lost_events, lost);
    EXPECT_TRUE(history_->Stored(history_->committed()));
    EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
    std::vector<uint64_t> there;
    for (const auto& event : ReadAll()) there.push_back(event.id);
    EXPECT_THAT(there, ::testing::ElementsAreArray(ids));
    EXPECT_EQ(Reader()->Runs()->size(), 1u);
  }
  std::string Part(const char* suffix) { return options_.path + suffix; }
};

TEST_F(HandsTest, RemovedItIsBegunAnew) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(Part(suffix));
  }
  ExpectGoesOn({3}, 2);
}

TEST_F(HandsTest, TheDatabaseAloneRemoved) {
  std::filesystem::remove(Part(""));
  ExpectGoesOn({3}, 2);
}

TEST_F(HandsTest, EmptiedItIsBegunAnew) {
  std::filesystem::resize_file(Part(""), 0);
  ExpectGoesOn({3}, 2);
}

TEST_F(HandsTest, ALogThatWasRemovedIsStillOurs) {
  std::filesystem::remove(Part("-wal"));
  ExpectGoesOn({1, 2, 3});
}

TEST_F(HandsTest, ALogThatWasCutLosesWhatWasCutOff) {
  const auto whole = std::filesystem::file_size(Part("-wal"));
  Put(Steps(Job(), 50, 10));
  Commit();
  std::filesystem::resize_file(Part("-wal"), whole + 100);
  ExpectGoesOn({1, 2, 4});
}

TEST_F(HandsTest, AnotherProgramMayMoveTheLog) {
  auto other = Database::Open(options_.path, Database::Mode::kWrite, "");
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  ExpectGoesOn({1, 2, 3});
}

// One that holds more than this process wrote: its ids would come twice.
TEST_F(HandsTest, ALongerHistoryInItsPlaceWaitsForARestart) {
  const std::string other = directory_ + "/other.db";
  {
    HistoryOptions options = options_;
    options.path = other;
    OpenReport report;
    auto longer = History::Open(options, clock_, &report);
    ASSERT_TRUE(longer.ok());
    const std::vector<Event> many(20, EventOf({}, RulesLoaded{}));
    ASSERT_TRUE((*longer)->Append(clock_.Now(), many));
    (*longer)->Close();
  }
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::remove(Part(suffix));
  }
  std::filesystem::rename(other, options_.path);
  PutAndCommit(Steps(Job(), 50, 10));
  EXPECT_TRUE(history_->stats().degraded);
  EXPECT_FALSE(history_->Stored(history_->committed()));
  EXPECT_EQ(ReadAll().size(), 20u);
}

// A path that cannot be made is one that SQLite cannot open, whoever asks (root
// may write to read-only directories, so that permissions test nothing).
TEST_F(OpeningTest, WithoutAFileEventsCountAsAppliedAndComeBackLater) {
  PutAndCommit(Opened(Job()));
  history_.reset();
  std::filesystem::rename(options_.path, options_.path + ".away");
  std::filesystem::create_symlink(directory_ + "/none/x", options_.path);
  Open();
  EXPECT_TRUE(report_.degraded);
  EXPECT_FALSE(report_.message.empty());
  Put({Opened(Job(2)), Steps(Job(2), 0, 5)});
  Commit();
  EXPECT_TRUE(history_->stats().degraded);
  EXPECT_EQ(history_->stats().lost_events, 2u);
  EXPECT_EQ(history_->committed(), history_->last_id());

  std::filesystem::remove(options_.path);
  clock_.Advance(std::chrono::seconds(61));
  history_->RunOnce(Duration(0));
  EXPECT_FALSE(history_->stats().degraded);
  // Its steps were not stored: a checkpoint has to say how the run is.
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(2)));
  PutAndCommit(Checkpoint(Job(2)));
  const auto events = ReadAll();
  EXPECT_EQ(events.size(), 2u);  // its opening was kept until now
  EXPECT_EQ(damaged_, 0u);       // a known gap
  EXPECT_EQ(Reader()->Runs()->size(), 1u);
  EXPECT_EQ(IdsForRestart("v1").size(), 1u);
}

}  // namespace
}  // namespace nanwatch
