// Faults that no loss shows, in logs from their first line to the verdict: a
// rank that leaves the others, a layer or a term that is lost, no learning
// rate, updates that are left out.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "app/log_judge.h"

namespace nanwatch {
namespace {

std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

class Log {
 public:
  // A training's loss at `step`, with the noise of a batch.
  double Loss(int step) {
    return (2 + 5 * std::exp(-step / 50.0)) * std::exp(0.01 * normal_(bits_));
  }
  void Line(const std::string& line) { judge_.ReadLine(line); }
  // The worst incident; none: one without a rule.
  Incident End() {
    const LogVerdict verdict = judge_.Finish();
    worst = verdict.at_end;
    Incident found;
    for (const auto& attempt : verdict.attempts) {
      for (const Incident& each : attempt->incidents) {
        if (each.worst > found.worst) found = each;
      }
    }
    return found;
  }

  Severity worst = Severity::kNone;

 private:
  LogJudge judge_{{.run_id = "r"}};
  std::mt19937 bits_{1};
  std::normal_distribution<double> normal_;
};

// As `line` prints a loss and a norm of one of four ranks.
using Line = std::function<std::string(int rank, int step, std::string loss,
                                       std::string norm)>;

TEST(SilentFaultsTest, ARankThatLeavesTheOthers) {
  const Line lines[] = {
      [](int rank, int step, std::string loss, std::string) {
        return "[rank" + std::to_string(rank) + "]: step " +
               std::to_string(step) + " loss " + loss;
      },
      [](int rank, int step, std::string loss, std::string norm) {
        return std::to_string(rank) + ": it " + std::to_string(step) +
               " avg_loss " + loss + " global_grad_norm " + norm;
      },
  };
  for (const Line& line : lines) {
    for (const bool leaves : {true, false}) {
      Log log;
      for (int step = 0; step < 300; ++step) {
        for (int rank = 0; rank < 4; ++rank) {
          const double more = leaves && rank == 2 && step >= 200 ? 1.3 : 1;
          log.Line(line(rank, step, Text(more * log.Loss(step)), "0.5000"));
        }
      }
      const Incident incident = log.End();
      EXPECT_EQ(log.worst, leaves ? Severity::kWarning : Severity::kNone);
      if (!leaves) continue;
      EXPECT_EQ(incident.rule, RuleId::kRankApart);
      EXPECT_NEAR(static_cast<double>(incident.opened_step), 200, 3);
    }
  }
}

TEST(SilentFaultsTest, ALayerThatLosesItsGradient) {
  for (const int from : {150, 0, 999}) {
    Log log;
    for (int step = 0; step < 300; ++step) {
      log.Line("{\"step\": " + std::to_string(step) +
               ", \"loss\": " + Text(log.Loss(step)) +
               ", \"grad_norm/layers.0\": 0.2500, \"grad_norm/layers.1\": " +
               (step >= from ? "0.0" : "0.3125") +
               ", \"grad_norm/head\": 0.5000}");
    }
    const Incident incident = log.End();
    EXPECT_EQ(log.worst, from == 150 ? Severity::kWarning
                         : from == 0 ? Severity::kInfo
                                     : Severity::kNone);
    if (from == 999) continue;
    EXPECT_EQ(incident.rule, RuleId::kLayerWithoutGradient);
    EXPECT_EQ(incident.opened_step, from);
  }
}

TEST(SilentFaultsTest, ATermThatIsNanBesideAFiniteLoss) {
  for (const bool table : {false, true}) {
    Log log;
    if (table) log.Line("step,loss,kl_loss");
    for (int step = 0; step < 200; ++step) {
      const std::string kl = step < 120 ? "0.2000" : "nan";
      const std::string loss = Text(log.Loss(step));
      log.Line(table ? std::to_string(step) + "," + loss + "," + kl
                     : "step " + std::to_string(step) + " loss " + loss +
                           " (kl " + kl + ", rec " + loss + ")");
    }
    const Incident incident = log.End();
    EXPECT_EQ(log.worst, Severity::kWarning) << table;
    EXPECT_EQ(incident.rule, RuleId::kTermNonfinite);
    EXPECT_EQ(incident.opened_step, 120);
  }
}

TEST(SilentFaultsTest, ARateThatIsNeverAnotherThan0) {
  for (const char* rate : {"0.0", "0.0000", "1e-05"}) {
    Log log;
    for (int step = 1; step <= 60; ++step) {
      log.Line("{'loss': " + Text(log.Loss(1000)) + ", 'learning_rate': " +
               rate + ", 'epoch': " + Text(0.01 * step) + "}");
    }
    const Incident incident = log.End();
    const bool none = std::string(rate) == "0.0";
    EXPECT_EQ(incident.rule, none ? RuleId::kUpdateFault : RuleId::kNone);
  }
}

TEST(SilentFaultsTest, UpdatesThatAProgramSaysItLeavesOut) {
  for (const char* words :
       {"Skipping optimizer step: inf/nan in grads",
        "WARNING:root:non-finite gradients detected, skipping update"}) {
    Log log;
    for (int step = 0; step < 120; ++step) {
      log.Line("step " + std::to_string(step) + " loss " +
               Text(log.Loss(1000)));
      if (step >= 40) log.Line(words);
    }
    const Incident incident = log.End();
    EXPECT_EQ(log.worst, Severity::kCritical);
    EXPECT_EQ(incident.rule, RuleId::kOverflowStreak);
  }
}

}  // namespace
}  // namespace nanwatch
