// Means over all steps so far, of few steps and of more.

#include "logs/running_mean.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

// Bars that show the mean of the first `losses` under `name`; how many of
// their records show it.
size_t Shown(const std::vector<double>& losses, const std::string& title,
             const std::string& name) {
  std::vector<std::string> lines;
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i];
    const std::string step = std::to_string(i + 1);
    lines.push_back(title + ":  1%|      | " + step +
                    "/2000 [00:02<66:29,  1.98s/it, " + name + "=" +
                    std::to_string(sum / (i + 1.0)) + "]");
  }
  size_t shown = 0;
  for (const LogRecord& record : RecordsOf(lines)) {
    shown += record.step.has(StepField::kLoss) ? 1 : 0;
  }
  return shown;
}

std::vector<double> Noisy(size_t steps) {
  std::vector<double> losses;
  for (size_t i = 0; i < steps; ++i)
    losses.push_back(0.03 + i * 37 % 11 / 40.0);
  return losses;
}

// Steps 16, 32, 48, 64, 80, 96.
TEST(RunningMean, OfFewOrTheSameStepsIsNoNews) {
  EXPECT_EQ(Shown(Noisy(100), "steps", "avr_loss"), 6u);
  EXPECT_EQ(Shown(Noisy(100), "steps", "avg_loss"), 6u);
  EXPECT_EQ(Shown(Noisy(100), "steps", "loss"), 100u) << "each of one step";
  EXPECT_EQ(Shown(Noisy(100), "Epochs", "avg_loss"), 100u) << "each of many";
}

TEST(RunningMean, IsShownWhereItIsNews) {
  std::vector<double> rising;
  for (int i = 0; i < 30; ++i) rising.push_back(2.5 + i * i / 4.0);
  EXPECT_EQ(Shown(rising, "steps", "avg_loss"), 15u) << "it goes somewhere";
  std::vector<double> broken = Noisy(20);
  broken[9] = NAN;
  EXPECT_EQ(Shown(broken, "steps", "avr_loss"), 11u);
  std::vector<double> leaps = Noisy(40);
  leaps[36] = 1000;
  EXPECT_EQ(Shown(leaps, "steps", "avr_loss"), 3u) << "steps 16, 32 and 37";
  std::vector<double> grows = Noisy(40);
  for (size_t i = 6; i < 40; ++i) grows[i] = 100;
  EXPECT_EQ(Shown(grows, "steps", "avr_loss"), 34u) << "at once";
}

}  // namespace
}  // namespace nanwatch
