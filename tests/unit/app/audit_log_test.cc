#include "app/audit_log.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/mutex.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

// A disk that is full for as long as a test wants; what it took outlives it.
struct Taken {
  Mutex mutex;
  bool full GUARDED_BY(mutex) = false;
  std::vector<nlohmann::json> lines GUARDED_BY(mutex);
};

class Disk : public AuditOutput {
 public:
  explicit Disk(Taken* taken) : taken_(taken) {}
  bool Write(const std::string& line) override {
    MutexLock lock(taken_->mutex);
    if (taken_->full) return false;
    taken_->lines.push_back(nlohmann::json::parse(line));
    return true;
  }
  Status Reopen() override { return OkStatus(); }

 private:
  Taken* const taken_;
};

AuditEntry Entry(AuditKind kind, const std::string& who) {
  AuditEntry entry;
  entry.kind = kind;
  entry.who = who;
  entry.from = "pid 7";
  return entry;
}

double Figure(const AuditLog& log, std::string_view name) {
  std::vector<SelfSample> samples;
  log.AppendSamples(&samples);
  for (const SelfSample& one : samples) {
    if (one.name == name) return one.value;
  }
  return -1;
}

// All that is written of `entries`, while the clock stands still.
std::vector<nlohmann::json> Write(const std::vector<AuditEntry>& entries) {
  ManualClock clock(FromMicros(1700000000123456));
  Taken taken;
  {
    AuditLog log(std::make_unique<Disk>(&taken), clock);
    for (const AuditEntry& one : entries) log.Add(one);
  }
  MutexLock lock(taken.mutex);
  return taken.lines;
}

TEST(AuditLog, ALineSaysWhoFromWhereWhat) {
  AuditEntry entry = Entry(AuditKind::kTakeover, "ann");
  entry.run_id = "job-7";
  entry.attempt = 2;
  entry.rank = 3;
  entry.owner = "bob";
  const auto lines = Write({entry});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], (nlohmann::json{{"time", "2023-11-14T22:13:20.123456Z"},
                                      {"kind", "takeover"},
                                      {"who", "ann"},
                                      {"from", "pid 7"},
                                      {"run", "job-7"},
                                      {"attempt", 2},
                                      {"rank", 3},
                                      {"owner", "bob"}}));
}

TEST(AuditLog, TextsOfOthersAreEscapedAndShort) {
  const auto lines =
      Write({Entry(AuditKind::kClose, "a\n{\"kind\": \"stop\"}\x1b[31m\xff"),
             Entry(AuditKind::kClose, std::string(9000, 'x'))});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["kind"], "close");
  EXPECT_THAT(lines[0]["who"].get<std::string>(), HasSubstr("a\n{\"kind\""));
  EXPECT_EQ(lines[1]["who"].get<std::string>().size(), 1027u);
}

// The clock stands still: none comes back.
TEST(AuditLog, AFloodOfRefusalsIsCounted) {
  std::vector<AuditEntry> entries(3000, Entry(AuditKind::kRefusal, "eve"));
  entries.push_back(Entry(AuditKind::kMute, "ann"));
  const auto lines = Write(entries);
  ASSERT_EQ(lines.size(), 101u);
  EXPECT_EQ(lines.back()["kind"], "mute");
}

class AuditFileTest : public ::testing::Test {
 protected:
  AuditFileTest() {
    char name[] = "/tmp/nanwatch-audit-XXXXXX";
    folder_ = mkdtemp(name);
    options_.file = folder_ + "/audit.jsonl";
  }
  ~AuditFileTest() override { std::filesystem::remove_all(folder_); }
  static std::string TextOf(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string folder_;
  AuditOptions options_;
};

TEST_F(AuditFileTest, IsForItsUserAloneAndCanBeMovedAway) {
  umask(0);
  auto output = OpenAudit(options_);
  umask(022);
  ASSERT_TRUE(output.ok()) << output.error();
  struct stat found {};
  ASSERT_EQ(stat(options_.file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_TRUE((*output)->Write("a\n"));
  const std::string old = options_.file + ".1";
  std::filesystem::rename(options_.file, old);
  EXPECT_TRUE((*output)->Write("b\n"));
  EXPECT_TRUE((*output)->Reopen().ok());
  EXPECT_TRUE((*output)->Write("c\n"));
  EXPECT_EQ(TextOf(old), "a\nb\n");
  EXPECT_EQ(TextOf(options_.file), "c\n");
}

TEST_F(AuditFileTest, IsNoLinkAndNoDevice) {
  std::filesystem::create_symlink("/tmp", options_.file);
  EXPECT_THAT(OpenAudit(options_).error(), HasSubstr("no plain file"));
  options_.file = "/dev/full";
  EXPECT_THAT(OpenAudit(options_).error(), HasSubstr("/dev/full"));
  options_.file = "/proc/none/audit.jsonl";
  EXPECT_FALSE(OpenAudit(options_).ok());
}

TEST(AuditLog, WhatADiskDoesNotTakeIsCountedAndSaid) {
  ManualClock clock(FromMicros(1700000000123456));
  Taken taken;
  AuditLog log(std::make_unique<Disk>(&taken), clock);
  const auto full = [&](bool is) {
    MutexLock lock(taken.mutex);
    taken.full = is;
  };
  full(true);
  for (int i = 0; i < 3; ++i) log.Add(Entry(AuditKind::kMute, "ann"));
  while (Figure(log, "nanwatch_audit_lost_total") < 3) {
    std::this_thread::yield();
  }
  full(false);
  log.Add(Entry(AuditKind::kStop, "ann"));
  while (Figure(log, "nanwatch_audit_lines_total") < 2) {
    std::this_thread::yield();
  }
  MutexLock lock(taken.mutex);
  ASSERT_EQ(taken.lines.size(), 2u);
  int64_t lost = 0;
  for (const auto& line : taken.lines) {
    if (line["kind"] == "lines_lost") lost += line["count"].get<int64_t>();
  }
  EXPECT_EQ(lost, 3);
}

}  // namespace
}  // namespace nanwatch
