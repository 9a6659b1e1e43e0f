// Weights, lengths and temperatures of the objective that a log prints.

#include "logs/objective_knob.h"

#include <gtest/gtest.h>

#include <string>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

TEST(ObjectiveKnob, MovesAsSomebodyPlannedIt) {
  ObjectiveKnob weight;
  EXPECT_FALSE(weight.Moves(0));
  EXPECT_FALSE(weight.Moves(0));
  EXPECT_TRUE(weight.Moves(0.1));
  EXPECT_TRUE(weight.Moves(0.2));
  EXPECT_FALSE(weight.Moves(0.2));
  ObjectiveKnob length;  // of batches, as they come
  int moves = 0;
  for (int i = 0; i < 100; ++i) moves += length.Moves(100 + i * 37 % 11);
  EXPECT_LE(moves, 4);
}

// Returns the stretches of steps over which the objective moved.
std::string MovesIn(const char* name, int from, int to) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < 1000; step += 10) {
    const int done = step < from ? 0 : step < to ? step - from : to - from;
    reader.ReadLine("step=" + std::to_string(step) + " loss=2.5" +
                    std::to_string(step) + " " + name + "=" +
                    std::to_string(0.5 + done / 100.0));
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  const auto told = settings.find("objective_moves");
  return told == settings.end() ? "" : told->second;
}

TEST(ObjectiveKnob, ALogTellsTheStepsOverWhichItsObjectiveMoved) {
  EXPECT_EQ(MovesIn("beta", 500, 600), "500-600");
  EXPECT_EQ(MovesIn("aux_weight", 500, 510), "500-510");
  EXPECT_EQ(MovesIn("train/kl_coef", 500, 600), "500-600");
  EXPECT_EQ(MovesIn("beta", 2000, 2000), "");
  EXPECT_EQ(MovesIn("accuracy", 500, 600), "") << "no weight of anything";
}

// Returns the same of a loss that leaps where `words` stand.
std::string MovesAt(const std::string& words) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int epoch = 1; epoch <= 60; ++epoch) {
    if (epoch == 41) reader.ReadLine(words);
    const double loss = epoch < 41 ? 1.0 / epoch : 1.5 - epoch / 100.0;
    reader.ReadLine("Epoch " + std::to_string(epoch) + "/60, train loss " +
                    std::to_string(loss) + ", acc 0.5");
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  const auto told = settings.find("objective_moves");
  return told == settings.end() ? "" : told->second;
}

// Epochs wait until it is clear that no line shows a step: an announcement is
// of the one behind it all the same.
TEST(ObjectiveKnob, AnEpochsLossIsAnotherWhereALineAnnouncesIt) {
  EXPECT_EQ(MovesAt("INFO: Changing loss based on Stage Two Weights"), "40-41");
  EXPECT_EQ(MovesAt("==> stage 2: backbone unfrozen, mask loss added"),
            "40-41");
  EXPECT_EQ(MovesAt("Advancing to lesson 2"), "40-41");
  EXPECT_EQ(MovesAt("Saved the checkpoint of stage 1"), "");
  EXPECT_EQ(MovesAt("Best loss so far: 0.024"), "");
}

}  // namespace
}  // namespace nanwatch
