// How long a trouble lasted.

#include "detect/episode.h"

#include <gtest/gtest.h>

#include <optional>

namespace nanwatch {
namespace {

Finding Described(const Episode& episode) {
  Finding finding;
  episode.Describe(&finding);
  return finding;
}

// Records are ten steps apart.
TEST(EpisodeTest, IsBackAtARecordAndNoLaterStep) {
  Episode episode;
  auto step = [&, at = int64_t{100}](Severity trigger, bool clean) mutable {
    at += 10;
    return episode.On(trigger, clean, at, 20);
  };
  step(Severity::kWarning, false);
  step(Severity::kNone, false);
  EXPECT_EQ(Described(episode).last_step, 120);
  EXPECT_EQ(Described(episode).back_step, std::nullopt);
  for (int i = 0; i < 3; ++i) step(Severity::kNone, true);
  EXPECT_EQ(Described(episode).back_step, 130);
  step(Severity::kNone, false);
  EXPECT_EQ(Described(episode).last_step, 160) << "not yet at rest";
  for (int i = 0; i < 12; ++i) step(Severity::kNone, true);
  step(Severity::kNone, false);
  for (int i = 0; i < 19; ++i) step(Severity::kNone, true);
  EXPECT_TRUE(episode.open()) << "it waits for 20 in a row";
  EXPECT_EQ(step(Severity::kNone, true), Severity::kNone);
  EXPECT_EQ(Described(episode).last_step, 160);
  EXPECT_EQ(Described(episode).back_step, 170);
}

TEST(EpisodeTest, ATriggerGoesOnWithIt) {
  Episode episode;
  episode.On(Severity::kWarning, false, 1, 20);
  for (int i = 2; i < 14; ++i) episode.On(Severity::kNone, true, i, 20);
  episode.On(Severity::kWarning, false, 14, 20);
  EXPECT_EQ(Described(episode).opened_step, 1);
  EXPECT_EQ(Described(episode).last_step, 14);
  EXPECT_EQ(Described(episode).back_step, std::nullopt);
  // A clean record may stand for many: it is not the first of those.
  episode.On(Severity::kNone, true, 80, 20, 60);
  EXPECT_EQ(Described(episode).back_step, std::nullopt);
}

}  // namespace
}  // namespace nanwatch
