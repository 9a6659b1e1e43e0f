// Rule 74 against generated scores and evaluations: healthy ones must stay
// quiet, lost ones must be found.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "detect/all_rules.h"
#include "detect/rules.h"
#include "logs/evaluation_news.h"
#include "logs/score_course.h"
#include "tests/generate/random.h"

namespace nanwatch {
namespace {

using generate::Random;

bool All() { return std::getenv("NANWATCH_TEST_ALL") != nullptr; }

Severity Judge(const std::string& setting, const std::string& text) {
  RunDescription run;
  run.settings[setting] = text;
  static const RuleTables tables(DefaultRules());
  const TimeContext context{.run = run,
                            .now = {},
                            .opened = {},
                            .ranks = {},
                            .last_step = 1,
                            .step_seconds_p99 = 0,
                            .step_seconds_mean = 0};
  ScoreLost rule;
  return rule.OnTime(context,
                     tables.time().thresholds[TimeRules::IndexOf<ScoreLost>()]);
}

// Where a score stands at a part `t` of its training, 0 to 1, and how much it
// is scattered.
struct Shape {
  const char* what;
  double (*level)(double t, double chance);
  double noise;     // of the logarithm
  double scatter;   // beside it
  int degrees = 0;  // of Student's t; 0: normal
};

double Learns(double t) { return 20 + 480 * (1 - std::exp(-6 * t)); }

constexpr Shape kHealthy[] = {
    {"a policy that learns", [](double t, double) { return Learns(t); }, 0.4,
     0},
    {"a mean of many episodes", [](double t, double) { return Learns(t); },
     0.01, 0},
    {"one that never learns", [](double, double) { return 21.0; }, 0.3, 0},
    {"a mean that wanders",
     [](double t, double chance) {
       return 21 + 3 * std::sin(17 * t + 6 * chance) + 3 * std::sin(41 * t);
     },
     0.01, 0},
    {"payoffs with a long tail", [](double, double) { return 0.0; }, 0, 1, 2},
    {"an exploration that comes to something late",
     [](double t, double) { return t < 0.4 ? -20 : -20 + 30 * (t - 0.4); }, 0,
     2},
    {"a curriculum",
     [](double t, double chance) {
       const double stages = 2 + std::floor(4 * chance);
       const double part = t * stages - std::floor(t * stages);
       const double harder = t * stages < 1 ? 1 : 0.7;
       return 100 * (1 - harder * std::exp(-5 * part));
     },
     0, 8},
    {"a policy that forgets, and comes back",
     [](double t, double chance) {
       const double since = t - 0.3 - 0.5 * chance;
       return Learns(t) * (since > 0 && since < 0.06 ? 0.05 : 1);
     },
     0.2, 0},
    {"rewards that are overoptimised",
     [](double t, double) { return t < 0.5 ? 2 * t : 1 - 1.2 * (t - 0.5); }, 0,
     0.1},
    {"tasks in turn",
     [](double t, double) { return std::sin(300 * t) > 0 ? 5.0 : 1.0; }, 0,
     0.3},
    {"an accuracy", [](double t, double) { return Learns(t) / 500; }, 0, 0.05},
};

constexpr Shape kLost[] = {
    {"a policy that collapses",
     [](double t, double chance) {
       return t < 0.4 + 0.4 * chance ? Learns(t) : 9.4;
     },
     0.3, 0},
    {"a mean that collapses",
     [](double t, double chance) {
       return t < 0.4 + 0.4 * chance ? Learns(t) : 9.4;
     },
     0.02, 0},
    {"a reward that falls far below its first ones",
     [](double t, double chance) {
       const double since = t - 0.4 - 0.3 * chance;
       return since < 0 ? -1 + 5 * (1 - std::exp(-8 * t))
                        : -9 + 13 * std::exp(-40 * since);
     },
     0, 0.4},
};

// Returns how many of `logs` are warned of, as they go on or at their end.
int Warned(const Shape& shape, int logs, int64_t* values) {
  int warned = 0;
  for (int seed = 1; seed <= logs; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const double chance = random.Uniform();
    const int n = static_cast<int>(60 * std::pow(20, random.Uniform()));
    ScoreCourse course;
    bool warns = false;
    for (int i = 0; i < n; ++i) {
      const double level = shape.level(static_cast<double>(i) / n, chance);
      const double value = level * std::exp(shape.noise * random.Normal()) +
                           shape.scatter * random.Tailed(shape.degrees);
      course.Add(value, i);
      warns = warns || (course.row().records > 0 &&
                        Judge("score", course.row().Text()) > Severity::kNone);
    }
    warns = warns ||
            (course.row().records > 0 &&
             Judge("score", course.row().Text() + " end") > Severity::kNone);
    warned += warns ? 1 : 0;
    *values += n;
  }
  return warned;
}

TEST(ScoresTest, HealthyOnesAreLeftInPeace) {
  int64_t values = 0;
  int warned = 0;
  for (const Shape& shape : kHealthy) {
    const int of_shape = Warned(shape, All() ? 2000 : 100, &values);
    std::cout << shape.what << ": " << of_shape << " warnings\n";
    warned += of_shape;
  }
  std::cout << values << " values\n";
  EXPECT_LE(warned, values / 200000);
}

TEST(ScoresTest, LostOnesAreFound) {
  for (const Shape& shape : kLost) {
    const int logs = All() ? 1000 : 100;
    int64_t values = 0;
    const int found = Warned(shape, logs, &values);
    std::cout << shape.what << ": " << found << " of " << logs << "\n";
    EXPECT_GE(found, 0.9 * logs) << shape.what;
  }
}

// Losses of evaluations: of one name, as many as an evaluation a part of the
// training. What is told last, with the end of the log.
int BlownUp(double (*loss)(double t, double chance), double noise, int logs) {
  int warned = 0;
  for (int seed = 1; seed <= logs; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const double chance = random.Uniform();
    const int n = 5 + static_cast<int>(random.Below(200));
    EvaluationNews news;
    ScoreRow high;
    double before = 0;
    for (int i = 0; i < n; ++i) {
      FactList facts;
      const double level = loss(static_cast<double>(i) / n, chance);
      news.Take(level * std::exp(noise * random.Tailed(6)), "val loss", 0,
                &facts);
      const bool far =
          !facts.empty() && facts[0].lowest > 0 &&
          facts[0][StepField::kLoss] >= EvaluationNews::kFar * facts[0].lowest;
      high.records = far ? high.records + 1 : 0;
      if (!far) continue;
      const double newest = facts[0][StepField::kLoss];
      high.stands = std::min(std::exchange(before, newest), newest);
      high.best = facts[0].lowest;
      high.first = facts[0].first;
    }
    const bool warns =
        high.records > 1 &&
        Judge("evaluation_high", high.Text() + " end") > Severity::kInfo;
    warned += warns ? 1 : 0;
  }
  return warned;
}

TEST(ScoresTest, EvaluationsThatOverfitAreLeftInPeace) {
  const int logs = All() ? 20000 : 1000;
  const auto overfits = [](double t, double chance) {
    return 0.5 + 2 * std::exp(-20 * t) + 3 * chance * t;
  };
  EXPECT_EQ(BlownUp(overfits, 0.03, logs), 0);
  const auto noisy = [](double t, double) { return 0.1 + std::exp(-9 * t); };
  EXPECT_EQ(BlownUp(noisy, 0.3, logs), 0);
  const auto blows = [](double t, double) {
    return 0.1 + std::exp(-9 * t) + 1e-4 * std::exp(13 * t);
  };
  EXPECT_GE(BlownUp(blows, 0.05, logs), 0.9 * logs);
}

}  // namespace
}  // namespace nanwatch
