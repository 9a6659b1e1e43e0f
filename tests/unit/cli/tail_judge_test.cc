// TailJudge: files of several ranks, in whatever order they are read.

#include "cli/tail_judge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

constexpr int kMismatch = 12;  // scale_rank_mismatch
constexpr int kGap = 54;       // telemetry_gap
constexpr Time kNow{std::chrono::seconds(1'000'000'000)};

// Key=value lines of the steps `first` to `last`.
std::string Lines(int first, int last, double scale) {
  std::string text;
  for (int step = first; step <= last; ++step) {
    text += fmt::format("step={} loss={:.4f} grad_norm=0.4 loss_scale={}\n",
                        step, 7.0 - 0.01 * step, scale);
  }
  return text;
}

class TailJudgeTest : public testing::Test {
 protected:
  TailJudgeTest() : voice_(open("/dev/null", O_WRONLY | O_CLOEXEC), false) {}

  TailJudge Judge(size_t ranks) {
    TailJudge::Options options;
    for (size_t i = 0; i < ranks; ++i) {
      options.ranks.push_back(static_cast<int32_t>(i));
    }
    options.idle_flush = std::chrono::seconds(5);
    options.voice = &voice_;
    return TailJudge(options);
  }
  static bool Has(const LogVerdict& verdict, int rule) {
    for (const auto& attempt : verdict.attempts) {
      for (const Incident& incident : attempt->incidents) {
        for (const Finding& finding : incident.findings) {
          if (NumberOf(finding.rule) == rule) return true;
        }
      }
    }
    return false;
  }

  TailVoice voice_;
};

TEST_F(TailJudgeTest, FilesThatAreReadOneAfterTheOtherAreJudgedSideBySide) {
  for (const bool differ : {false, true}) {
    TailJudge judge = Judge(2);
    judge.Look();
    judge.Feed(0, Lines(1, 300, 65536), kNow);
    judge.Nothing(0);
    judge.Feed(1, Lines(1, 150, 65536), kNow);
    judge.Feed(1, Lines(151, 300, differ ? 32768 : 65536), kNow);
    judge.Nothing(1);
    EXPECT_EQ(judge.newest_step(0), 300);
    const LogVerdict verdict = judge.Finish();
    EXPECT_EQ(verdict.records, 600u);
    EXPECT_FALSE(Has(verdict, kGap));
    EXPECT_EQ(Has(verdict, kMismatch), differ);
  }
}

TEST_F(TailJudgeTest, ALogWithoutStepsIsNobodyMissing) {
  TailJudge judge = Judge(3);
  judge.Look();
  judge.Feed(0, "a banner, and nothing of the training\n", kNow);
  judge.Nothing(0);
  judge.Feed(1, Lines(1, 300, 65536), kNow);
  judge.Nothing(1);
  judge.Nothing(2);  // an empty file
  judge.Tick(kNow + std::chrono::seconds(6));
  const LogVerdict verdict = judge.Finish();
  EXPECT_EQ(verdict.records, 300u);
  EXPECT_EQ(verdict.worst, Severity::kNone);
}

TEST_F(TailJudgeTest, ASlowLogHoldsTheFirstWordUpButNotForLong) {
  TailJudge judge = Judge(2);
  judge.Look();
  judge.Feed(0, Lines(1, 300, 65536), kNow);
  judge.Nothing(0);
  // Too few lines to know whose they are; a line a second, and never silent.
  judge.Feed(1, Lines(1, 3, 32768), kNow);
  judge.Nothing(1);
  for (int second = 1; second < 20; ++second) {
    judge.Look();
    judge.Nothing(0);
    judge.Feed(1, Lines(3 + second, 3 + second, 32768),
               kNow + std::chrono::seconds(second));
    judge.Nothing(1);
    judge.Tick(kNow + std::chrono::seconds(second));
  }
  const LogVerdict verdict = judge.Finish();
  EXPECT_EQ(verdict.records, 322u);
}

TEST_F(TailJudgeTest, ARunThatBeginsAgainInBothFilesIsOneRunTwice) {
  TailJudge judge = Judge(2);
  judge.Look();
  for (const size_t log : {0u, 1u}) {
    judge.Feed(log, Lines(1, 200, 65536) + Lines(101, 300, 65536), kNow);
    judge.Nothing(log);
  }
  const LogVerdict verdict = judge.Finish();
  EXPECT_EQ(verdict.records, 800u);
  ASSERT_EQ(verdict.attempts.size(), 2u);
  for (const auto& attempt : verdict.attempts) {
    EXPECT_EQ(attempt->totals.steps, 400u);
  }
  EXPECT_EQ(verdict.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
