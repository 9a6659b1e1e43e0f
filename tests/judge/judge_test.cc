// The engine with every rule at its default against generated runs: healthy
// ones must stay quiet, troubles must be found and named. A share of it in CI;
// all of it, with the tables, when NANWATCH_TEST_ALL is set.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "detect/all_rules.h"
#include "detect/rules.h"
#include "model/diagnosis.h"
#include "tests/generate/healthy.h"
#include "tests/generate/random.h"
#include "tests/generate/texture.h"
#include "tests/generate/trouble.h"
#include "tests/judge/verdicts.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using generate::Kind;
using generate::Quantiles;

bool All() { return std::getenv("NANWATCH_TEST_ALL") != nullptr; }

void ExpectAlike(const char* what, const generate::Texture& texture,
                 const Quantiles& made) {
  const Quantiles& real = texture.measured;
  std::cout << what << ": 50, 99, 99.9 % of |ln(next / this)|: measured "
            << real.median << " " << real.q99 << " " << real.q999
            << ", generated " << made.median << " " << made.q99 << " "
            << made.q999 << " (" << texture.source << ", " << texture.lines
            << " lines)\n";
  EXPECT_NEAR(made.median / real.median, 1, 0.25) << texture.source;
  EXPECT_NEAR(made.q99 / real.q99, 1, 0.25) << texture.source;
  EXPECT_NEAR(made.q999 / real.q999, 1, 0.25) << texture.source;
}

TEST(GeneratorTest, LossesMoveAsInPublicLogs) {
  for (int kind = 0; kind < generate::kKinds; ++kind) {
    const auto k = static_cast<Kind>(kind);
    ExpectAlike("loss", generate::LossTexture(k), generate::TypicalLosses(k));
  }
}

TEST(GeneratorTest, GradientNormsMoveAsInAPublicLog) {
  ExpectAlike("gradient norm", generate::NormTexture(),
              generate::TypicalNorms());
}

// Its scaler probes as often, and loses as many updates.
TEST(GeneratorTest, ProbingScalersSkipAsManySteps) {
  const double share = generate::ProbingSkips();
  std::cout << "skipped: measured " << generate::Probing().skipped
            << ", generated " << share << " (" << generate::Probing().source
            << ")\n";
  EXPECT_NEAR(share / generate::Probing().skipped, 1, 0.25);
}

TEST(GeneratorTest, TellsATroubleOfEveryCauseThatNumbersShow) {
  for (int cause = 0; cause < kCauses; ++cause) {
    const auto told = static_cast<Cause>(cause);
    // A client tells these outright (tests/accuracy has them), or what loss,
    // benchmark or scales of layers there are; what learns is no trouble; and
    // of lost weights there are scenarios (tests/golden).
    if (told == Cause::kUpdateMadeWrong || told == Cause::kUpdateLost ||
        told == Cause::kProgramEnded || told == Cause::kLossMadeWrong ||
        told == Cause::kLayerScales || told == Cause::kLeftBenchmark ||
        told == Cause::kLearnsYet || told == Cause::kWeightsLost) {
      continue;
    }
    const std::string_view name = Name(told);
    const auto kinds = generate::TroubleKinds();
    EXPECT_EQ(std::count_if(kinds.begin(), kinds.end(),
                            [&](const auto& k) { return k.cause == name; }),
              1)
        << name;
  }
}

TEST(JudgeTest, HealthyRunsAreLeftInPeace) {
  // 200 runs of 5000 steps are a million.
  const int runs = All() ? 2000 : 200;
  const int64_t steps = 5000;
  const HealthyVerdict verdict = JudgeHealthy(1, runs, steps);
  std::cout << verdict.runs << " healthy runs (seeds 1 to " << runs << "), "
            << verdict.updates << " updates: " << verdict.criticals
            << " criticals, " << verdict.warnings << " warnings\n";
  for (const auto& [kind, row] : verdict.by_kind) {
    std::cout << "  " << kind << ": " << row.updates << " updates, "
              << row.criticals << " criticals, " << row.warnings
              << " warnings\n";
  }
  for (const std::string& alarm : verdict.alarms) std::cout << alarm << "\n";
  EXPECT_EQ(verdict.criticals, 0);
  EXPECT_LE(static_cast<uint64_t>(verdict.warnings), verdict.updates / 200000);
}

// Each rank reports a loss and a norm of its own.
TEST(JudgeTest, HealthyRanksAreLeftInPeace) {
  const HealthyVerdict verdict =
      JudgeHealthyRanks(1, All() ? 120 : 12, All() ? 5000 : 2000);
  std::cout << verdict.updates << " updates\n";
  for (const std::string& alarm : verdict.alarms) ADD_FAILURE() << alarm;
  EXPECT_GT(verdict.updates, 50000u);
}

// A log is over where its run was stopped, for whatever reason. The losses of
// the first rank's first optimizer, with an end after every sixteenth.
TEST(JudgeTest, HealthyRunsMayEndAnywhere) {
  const RuleTables tables(DefaultRules());
  const auto ignore = [](size_t) {};
  int ends = 0;
  for (uint64_t seed = 1; seed <= (All() ? 200 : 24); ++seed) {
    const generate::Story story = generate::Healthy(seed, All() ? 5000 : 2000);
    RunDescription run;
    run.framework = story.setup.framework;
    ScalerTracker tracker;
    StepSeries series;
    StepRules rules;
    int records = 0;
    for (const generate::Moment& moment : story.moments) {
      if (moment.restart) {
        tracker = ScalerTracker();
        series = StepSeries();
        rules = StepRules();
      }
      for (const generate::Update& a : moment.updates) {
        if (a.rank != 0 || a.optimizer != 0) continue;
        const StepRecord record = RecordOf({.scale = a.scale,
                                            .overflow = a.overflow,
                                            .skipped = a.skipped,
                                            .loss = a.loss},
                                           a.step);
        tracker.OnStep(record);
        const StepOps ops;
        rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
                 ignore);
        if (++records % 16 != 0) continue;
        ++ends;
        StepRules ended = rules;
        ended.OnEnd(tables.step(), LevelKind::kKept, [&](size_t i) {
          if (ended.severity(i) < rules.severity(i)) return;
          ADD_FAILURE() << StepRules::Specs()[i]->name << ", seed " << seed
                        << " (" << story.setup.kind << "), step " << a.step;
        });
      }
    }
  }
  EXPECT_GT(ends, 2000);
}

// Losses that rise in health, and of few lines.
struct Shape {
  const char* what;
  const char* framework;
  double noise;  // of the logarithm
  double (*level)(int line, generate::Random* random);
  int from = 0;  // line; what comes before no one can tell from trouble
};

constexpr Shape kShapes[] = {
    {"harder data", "megatron", 0.01,
     [](int i, generate::Random*) {
       // What is new is learned first.
       const double more = 0.25 + 0.15 * std::exp(-(i - 90) / 20.0);
       return (2 + 8 * std::exp(-i / 15.0)) * (i < 90 ? 1 : 1 + more);
     }},
    {"a learning rate that begins anew", "hf_trainer", 0.03,
     [](int i, generate::Random*) {
       const double again = i < 100 ? 0 : 0.25 * std::exp(-(i % 100) / 20.0);
       return (1.2 + std::exp(-i / 30.0)) * (1 + again);
     }},
    {"epochs of a fine-tuning", "llama_factory", 0.08,
     [](int i, generate::Random*) { return 2.0 * std::pow(0.72, i / 60); }},
    {"a critic whose rewards grow", "", 0.15,
     [](int i, generate::Random*) { return 0.3 * std::exp(i / 400.0); }},
    {"a policy", "trl", 0,
     [](int, generate::Random* r) { return 0.02 * r->Tailed(3); }},
    {"two tasks in turn", "", 0.05,
     [](int i, generate::Random*) { return i / 12 % 2 == 0 ? 0.9 : 2.1; }, 24},
    {"a mixture of tasks", "", 0.1,
     [](int, generate::Random* r) { return r->Chance(0.3) ? 2.2 : 0.9; }, 24},
    {"a hot start", "litgpt", 0.01,
     [](int i, generate::Random*) {
       return (i > 18 && i < 32 ? 1.9 : 1.0) * (3 + 8 * std::exp(-i / 40.0));
     }},
    {"a fine-tuning at its floor", "hf_trainer", 0.04,
     [](int i, generate::Random*) { return 1.2 - 0.08 * i / 240; }},
    {"a contrastive loss", "", 0.0003,
     [](int i, generate::Random*) {
       return 4.2 + 4.118 * std::exp(-i / 90.0);
     }},
    {"a loss of densities", "", 0,
     [](int i, generate::Random* r) {
       return 3 - 6.3 * (1 - std::exp(-i / 60.0)) + 0.1 * r->Tailed(6);
     }},
    {"advantages that grow", "", 0,
     [](int i, generate::Random* r) {
       return (0.02 + 0.3 * i / 240) * r->Tailed(4);
     }},
    {"a hard sample now and then", "", 0.3,
     [](int, generate::Random* r) { return r->Chance(0.02) ? 0.5 : 1e-3; }},
};

TEST(JudgeTest, HealthyLogsOfFewLinesMayEndAnywhere) {
  const RuleTables tables(DefaultRules());
  const auto ignore = [](size_t) {};
  for (const Shape& shape : kShapes) {
    for (uint64_t seed = 1; seed <= (All() ? 60 : 12); ++seed) {
      generate::Random random(seed);
      const int64_t every = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 10 : 100;
      RunDescription run;
      run.framework = shape.framework;
      ScalerTracker tracker;
      StepSeries series;
      StepRules rules;
      for (int line = 0; line < 240; ++line) {
        const double level = shape.level(line, &random);
        const double loss = level * std::exp(shape.noise * random.Tailed(6));
        const StepRecord record = RecordOf({.loss = loss}, (line + 1) * every);
        tracker.OnStep(record);
        const StepOps ops;
        rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
                 ignore);
        if (line < shape.from) continue;
        StepRules ended = rules;
        ended.OnEnd(tables.step(), LevelKind::kKept, [&](size_t i) {
          if (ended.severity(i) < Severity::kWarning) return;
          Finding finding;
          ended.Describe(i, &finding);
          // By a clock: its cause (learns_yet) makes a note of it.
          if (NumberOf(finding, "every")) return;
          ADD_FAILURE() << shape.what << ", seed " << seed << ", line " << line
                        << ": " << finding.sentence;
        });
      }
    }
  }
}

class TroubleTest : public testing::TestWithParam<int> {};

TEST_P(TroubleTest, IsFoundAndNamed) {
  const generate::TroubleKind& kind =
      generate::TroubleKinds()[static_cast<size_t>(GetParam())];
  const int seeds = All() ? 20 : 10;
  int stories = 0;
  int found = 0;
  int named = 0;
  for (const double effect :
       All() ? EffectSizes() : std::vector<double>{5, 20}) {
    const TroubleVerdict v = JudgeTrouble(kind, seeds, effect);
    std::cout << kind.cause << " x" << effect << ": found " << v.found << " of "
              << v.stories << ", named " << v.named;
    if (!v.delays.empty()) {
      std::cout << ", delay " << v.delays[v.delays.size() / 2] << " (at most "
                << v.delays.back() << ")";
    }
    std::cout << "\n";
    EXPECT_EQ(v.early, 0) << "warned of before it began";
    if (effect < 5) continue;
    for (const std::string& line : v.missed) std::cout << "  " << line << "\n";
    stories += v.stories;
    found += v.found;
    named += v.named;
  }
  EXPECT_GE(found, (kind.collapse_or_nonfinite ? 0.99 : 0.95) * stories);
  EXPECT_GE(named, 0.95 * stories);
}

INSTANTIATE_TEST_SUITE_P(
    Causes, TroubleTest,
    testing::Range(0, static_cast<int>(generate::TroubleKinds().size())),
    [](const testing::TestParamInfo<int>& info) {
      return std::string(
          generate::TroubleKinds()[static_cast<size_t>(info.param)].cause);
    });

}  // namespace
}  // namespace nanwatch
