// Numbers that people reported of real runs, through every rule on steps: what
// must be found is found, and what converged is left in peace.

#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "detect/all_rules.h"
#include "detect/rules.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// The worst opinion of each family, ever.
std::map<Family, Severity> Worst(const std::vector<Update>& updates) {
  static const RuleTables tables(DefaultRules());
  const RunDescription run;
  ScalerTracker tracker;
  StepSeries series;
  tracker.Declare(run.scaler);
  StepRules rules;
  std::map<Family, Severity> worst;
  int64_t step = 0;
  for (const Update& update : updates) {
    const StepRecord record = RecordOf(update, ++step);
    tracker.OnStep(record);
    const StepOps ops;
    rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
             [&](size_t i) {
               Severity& w = worst[StepRules::Specs()[i]->family];
               w = std::max(w, rules.severity(i));
             });
  }
  return worst;
}

Severity WorstOfAll(const std::vector<Update>& updates) {
  Severity worst = Severity::kNone;
  for (const auto& [family, severity] : Worst(updates)) {
    worst = std::max(worst, severity);
  }
  return worst;
}

Update Overflow(double scale) { return {.scale = scale, .overflow = true}; }

void AddFall(std::vector<Update>* to, double from, int halvings) {
  for (int i = 0; i < halvings; ++i) to->push_back(Overflow(from /= 2));
}

TEST(KnownRuns, Apex834FallsStraightThroughOne) {
  std::vector<Update> run;
  AddFall(&run, 65536, 17);
  EXPECT_EQ(Worst(run)[Family::kScale], Severity::kCritical);
}

TEST(KnownRuns, Fairseq512ReachesItsSmallestScale) {
  std::vector<Update> run = {
      {.scale = 0.5, .overflow = false, .loss = 6.343, .grad_norm = 0.39}};
  AddFall(&run, 0.5, 12);
  EXPECT_EQ(Worst(run)[Family::kScale], Severity::kCritical);
}

TEST(KnownRuns, DeepSpeed697OverflowsAtTheFloor) {
  EXPECT_EQ(Worst({Overflow(4), Overflow(1), Overflow(1)})[Family::kScale],
            Severity::kCritical);
}

TEST(KnownRuns, Apex1135SwingsFarBelowOne) {
  std::vector<Update> run;
  for (const int exponent :
       {8, 7, 8, 9, 10, 9, 10, 9, 10, 8, 9, 10, 11, 10, 11, 10}) {
    run.push_back(Overflow(std::ldexp(1.0, -exponent)));
  }
  EXPECT_EQ(Worst(run)[Family::kScale], Severity::kCritical);
}

TEST(KnownRuns, Yolact359LearnsNothingAtATinyScale) {
  EXPECT_EQ(Worst({{.loss = 17.647},
                   {.loss = 17.658},
                   {.loss = 16.955},
                   Overflow(1.52587890625e-05),
                   {.loss = 17.619},
                   {.loss = 18.442},
                   Overflow(7.62939453125e-06)})[Family::kScale],
            Severity::kCritical);
}

TEST(KnownRuns, MindYolo402AppliesOverflowedUpdates) {
  EXPECT_EQ(Worst({Overflow(1024),
                   {.loss = 11.6707},
                   {.overflow = true},
                   {.loss = 8.8465},
                   {.overflow = true},
                   {.loss = 8712.5938},
                   {.overflow = true},
                   {.loss = 15806.3818}})[Family::kLoss],
            Severity::kCritical);
}

TEST(KnownRuns, MegatronLlm33TurnsNanInBf16) {
  EXPECT_EQ(
      Worst({{.scale = 1, .loss = 0.7334521, .grad_norm = 0.752},
             {.scale = 1, .loss = 0.7072597, .grad_norm = 0.741},
             {.scale = 1, .loss = kNan, .grad_norm = kNan},
             {.scale = 1, .loss = kNan, .grad_norm = kNan}})[Family::kLoss],
      Severity::kCritical);
}

TEST(KnownRuns, Fairseq506ConvergesWithAnOverflowAnEpochAtOne) {
  std::vector<Update> run;
  for (const double loss : {3.882, 3.863, 3.845}) {
    run.push_back(
        {.scale = 1, .overflow = false, .loss = loss, .grad_norm = 0.31});
    run.push_back(Overflow(1));
  }
  run.push_back(Overflow(0.5));
  run.push_back({.loss = 3.828});
  EXPECT_LE(WorstOfAll(run), Severity::kWarning);
}

TEST(KnownRuns, Tacotron137FindsItsScale) {
  std::vector<Update> run;
  AddFall(&run, 0x1p33, 18);
  for (const double loss :
       {49.316841, 40.57, 23.87, 13.44, 7.95, 6.59, 6.19, 5.51}) {
    run.push_back({.scale = 32768, .overflow = false, .loss = loss});
  }
  EXPECT_LE(WorstOfAll(run), Severity::kInfo);
}

TEST(KnownRuns, GptNeoAtTheFloorConvergesAndClears) {
  std::vector<Update> run = {Overflow(0x1p32)};
  AddFall(&run, 0x1p32, 29);
  run.push_back({.scale = 8, .overflow = false, .loss = 8.06});
  AddFall(&run, 8, 3);
  run.push_back({.scale = 1, .overflow = false, .loss = 7.9});
  run.push_back(Overflow(1));
  for (int i = 0; i < 6; ++i) {
    run.push_back({.scale = 1, .overflow = false, .loss = 7.5});
  }
  run.push_back(Overflow(1));
  for (int i = 0; i < 1900; ++i) {
    run.push_back({.scale = 1, .overflow = false, .loss = 7 - 0.003 * i});
  }
  EXPECT_EQ(WorstOfAll(run), Severity::kWarning);
}

TEST(KnownRuns, BigScienceTr1SpikeWarnsOnly) {
  std::vector<Update> run;
  for (int i = 0; i < 200; ++i) {
    run.push_back(
        {.scale = 65536, .overflow = false, .loss = 2.77 + 0.004 * (i % 5)});
  }
  AddFall(&run, 65536, 4);
  for (double loss = 8.715872; loss > 2.8; loss *= 0.96) {
    run.push_back({.scale = 4096, .overflow = false, .loss = loss});
  }
  EXPECT_EQ(WorstOfAll(run), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
