#include "detect/rules.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "detect/all_rules.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;

std::vector<int> Numbers() {
  std::vector<int> numbers;
  for (const RuleSpec* spec : AllRules()) numbers.push_back(NumberOf(spec->id));
  return numbers;
}

TEST(Rules, AreAllThereByNumber) {
  EXPECT_THAT(Numbers(),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                          17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30,
                          31, 32, 33, 34, 35, 36, 38, 39, 40, 41, 42, 43, 44,
                          49, 51, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
                          64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76));
}

TEST(Rules, SpeakForThemselves) {
  std::set<std::string_view> names;
  for (const RuleSpec* spec : AllRules()) {
    SCOPED_TRACE(spec->name);
    EXPECT_TRUE(names.insert(spec->name).second);
    for (const std::string_view sentence :
         {spec->meaning, spec->trigger, spec->clear}) {
      ASSERT_FALSE(sentence.empty());
      EXPECT_EQ(sentence.back(), '.');
    }
    for (const ThresholdSpec& t : spec->thresholds) {
      EXPECT_GE(t.value, t.min) << t.name;
      EXPECT_LE(t.value, t.max) << t.name;
      EXPECT_FALSE(t.unit.empty()) << t.name;
      EXPECT_FALSE(t.source.empty()) << t.name;
      const bool named = spec->trigger.find(t.name) != std::string_view::npos ||
                         spec->clear.find(t.name) != std::string_view::npos;
      EXPECT_TRUE(named) << t.name << " is not in the sentences";
    }
  }
}

TEST(Rules, AreFoundByNumberAndName) {
  for (const RuleSpec* spec : AllRules()) {
    EXPECT_EQ(FindRule(spec->id), spec);
    EXPECT_EQ(FindRule(spec->name), spec);
  }
  EXPECT_EQ(FindRule(RuleIdOf(37)), nullptr);
  EXPECT_EQ(FindRule("no_such_rule"), nullptr);
}

static_assert(std::is_trivially_copyable_v<StepRules>);
static_assert(std::is_trivially_copyable_v<OpRules>);
static_assert(std::is_trivially_copyable_v<AlignedRules>);
static_assert(std::is_trivially_copyable_v<TimeRules>);
static_assert(std::is_trivially_copyable_v<LayerRules>);
static_assert(std::is_trivially_copyable_v<BenchRules>);

// Of a rank's 8 KB: one list an optimizer. The others are an op's that is
// watched, a group's and a run's.
TEST(Rules, StateStaysSmall) {
  EXPECT_LE(sizeof(StepRules), 4288u);
  EXPECT_LE(sizeof(OpRules), 1024u);
  EXPECT_LE(sizeof(AlignedRules), 1024u);
  EXPECT_LE(sizeof(TimeRules), 1024u);
  EXPECT_LE(sizeof(LayerRules), 512u);
  EXPECT_LE(sizeof(BenchRules), 512u);
  RecordProperty("step", static_cast<int>(sizeof(StepRules)));
  RecordProperty("op", static_cast<int>(sizeof(OpRules)));
  RecordProperty("aligned", static_cast<int>(sizeof(AlignedRules)));
  RecordProperty("run", static_cast<int>(sizeof(TimeRules)));
}

TEST(RuleTables, DefaultsFillWhatASetLacks) {
  RulesInForce set = DefaultRules();
  set.rules["overflow_streak"].enabled = false;
  set.rules["scale_collapse"].thresholds = {8};  // an older daemon's
  set.rules["of_the_future"].thresholds = {1, 2, 3};
  set.rules.erase("stalled");
  const RuleTables tables(set);
  const auto specs = StepRules::Specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(tables.step().enabled[i], specs[i]->name != "overflow_streak");
    if (specs[i]->name != "scale_collapse") continue;
    EXPECT_EQ(tables.step().thresholds[i][0], 8);
    EXPECT_EQ(tables.step().thresholds[i][1], 256);
  }
  EXPECT_TRUE(tables.time().enabled[0]);
  EXPECT_EQ(tables.time().thresholds[0][0], 1800);
}

TEST(StepRules, ReportEveryChangeOfOpinionOnce) {
  const RuleTables tables(DefaultRules());
  RunDescription run;
  ScalerTracker tracker;
  StepSeries series;
  StepRules rules;
  std::vector<int> raised;
  std::vector<int> lowered;
  const auto feed = [&](const Update& update, int64_t step) {
    const StepRecord record = RecordOf(update, step);
    tracker.OnStep(record);
    const StepOps ops;
    const StepRules before = rules;
    rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
             [&](size_t i) {
               const bool worse = rules.severity(i) > before.severity(i);
               (worse ? raised : lowered)
                   .push_back(NumberOf(StepRules::Specs()[i]->id));
             });
  };
  int64_t step = 0;
  for (int i = 0; i < 5; ++i) feed({.loss = 2, .grad_norm = 1}, ++step);
  EXPECT_TRUE(rules.quiet());
  for (int i = 0; i < 3; ++i) feed({.loss = kNan, .grad_norm = 1}, ++step);
  EXPECT_THAT(raised, ElementsAre(15, 15)) << "a warning, then critical";
  for (int i = 0; i < 30; ++i) feed({.loss = 2, .grad_norm = 1}, ++step);
  EXPECT_THAT(lowered, ElementsAre(15));
  EXPECT_TRUE(rules.quiet());
}

TEST(StepRules, WhatWaitedIsJudgedAtTheEnd) {
  RulesInForce set = DefaultRules();
  for (const bool enabled : {true, false}) {
    set.rules.at("loss_spike").enabled = enabled;
    const RuleTables tables(set);
    RunDescription run;
    run.framework = "litgpt";
    ScalerTracker tracker;
    StepSeries series;
    StepRules rules;
    const auto ignore = [](size_t) {};
    for (int64_t step = 1; step <= 230; ++step) {
      const double loss = (step > 200 ? 6 : 2) + 0.02 * (step % 3);
      const StepRecord record = RecordOf({.loss = loss}, step);
      tracker.OnStep(record);
      const StepOps ops;
      rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
               ignore);
    }
    std::vector<int> changed;
    const StepRules before = rules;
    const auto note = [&](size_t i) {
      EXPECT_EQ(before.severity(i), Severity::kWarning);
      EXPECT_EQ(rules.severity(i), Severity::kCritical);
      changed.push_back(NumberOf(StepRules::Specs()[i]->id));
    };
    rules.OnEnd(tables.step(), LevelKind::kKept, note);
    rules.OnEnd(tables.step(), LevelKind::kKept, note);  // and no more
    EXPECT_EQ(changed, enabled ? std::vector<int>{34} : std::vector<int>{});
  }
}

// Every rule given every record, as RuleList would without kNeeds.
template <typename... Rules>
class EveryRule {
 public:
  explicit EveryRule(const RuleList<Rules...>&) {}
  void On(const StepContext& context,
          const RuleTable<sizeof...(Rules)>& table) {
    size_t i = 0;
    ((severity[i] = std::get<Rules>(rules).OnStep(context, table.thresholds[i]),
      ++i),
     ...);
  }
  std::string Sentence(size_t index) const {
    Finding finding;
    size_t i = 0;
    ((i++ == index ? std::get<Rules>(rules).Describe(&finding) : void()), ...);
    return finding.sentence;
  }

  std::tuple<Rules...> rules;
  std::array<Severity, sizeof...(Rules)> severity{};
};

// Troubles of all kinds, with what a log does not show between step lines.
class TroubledLog {
 public:
  explicit TroubledLog(uint32_t seed)
      : random_(seed),
        seed_(seed),
        every_(1 + seed % 12),
        rare_(seed % 5 < 2 ? 10 : 1) {}
  Update Next() {
    if (Chance(200)) trouble_ = static_cast<int>(random_() % 9);
    const bool overflow = trouble_ == 1 ? Chance(2) : Chance(300 * rare_);
    if (overflow) scale_ /= 2;
    if (Chance(100 * rare_)) scale_ *= 2;
    // Back and forth, and it stands for a while in between.
    if (trouble_ == 6 && updates_ % (2 + seed_ % 9) == 0) {
      scale_ *= std::exchange(up_, !up_) ? 2 : 0.5;
    }
    Update a;
    if (!Chance(20 * rare_)) a.overflow = a.skipped = overflow;
    if (++updates_ % every_ != 0) return a;
    a.scale = trouble_ == 1 && Chance(50) ? 0 : scale_;
    a.loss = trouble_ == 2 ? kNan : Noise(trouble_ == 3 ? 60 : 2);
    if (trouble_ == 7) a.loss = 0;
    if (trouble_ == 8) a.loss = Noise(Chance(8) ? 5e6 : 0.09);
    a.grad_norm = trouble_ == 4 ? kInf : Noise(trouble_ == 3 ? 500 : 1);
    if (every_ % 2 == 0) return a;
    a.learning_rate = 1e-4;
    a.update_norm = trouble_ == 5 ? 0 : Noise(trouble_ == 3 ? 90 : 0.1);
    a.param_norm = 100;
    a.underflow_fraction = trouble_ == 5 ? 0.9 : 0.001;
    if (seed_ % 3 == 0) LeaveOut(&a);
    return a;
  }

 private:
  bool Chance(uint32_t in) { return random_() % in == 0; }
  // Any of the numbers may be missing by itself.
  void LeaveOut(Update* a) {
    for (std::optional<double>* number :
         {&a->scale, &a->loss, &a->grad_norm, &a->learning_rate,
          &a->update_norm, &a->param_norm, &a->underflow_fraction}) {
      if (Chance(4)) number->reset();
    }
  }
  double Noise(double level) {
    return level * (1 + 0.1 * static_cast<double>(random_() % 100) / 100);
  }
  std::mt19937 random_;
  uint32_t seed_;
  int64_t every_;
  uint32_t rare_;  // long steady stretches
  int64_t updates_ = 0;
  int trouble_ = 0;
  bool up_ = true;
  double scale_ = 65536;
};

TEST(StepRules, FindTheSameWhereRulesAreNotCalledWithEveryRecord) {
  const RuleTables tables(DefaultRules());
  const RunDescription run;
  std::set<size_t> found;
  for (uint32_t seed = 0; seed < 48; ++seed) {
    TroubledLog log(seed);
    ScalerTracker tracker;
    StepSeries series;
    StepRules rules;
    EveryRule every(rules);
    for (int64_t step = 0; step < 4000; ++step) {
      const StepRecord record = RecordOf(log.Next(), step);
      tracker.OnStep(record);
      const StepOps ops;
      const StepContext context = ContextOf(run, record, tracker, ops, &series);
      rules.On(context, tables.step(), [&](size_t i) { found.insert(i); });
      every.On(context, tables.step());
      for (size_t i = 0; i < StepRules::kSize; ++i) {
        ASSERT_EQ(rules.severity(i), every.severity[i])
            << StepRules::Specs()[i]->name << " at " << step;
        if (rules.severity(i) == Severity::kNone) continue;
        Finding finding;
        rules.Describe(i, &finding);
        ASSERT_EQ(finding.sentence, every.Sentence(i)) << step;
      }
    }
  }
  EXPECT_GE(found.size(), 12u);  // of the rules spoke, or this shows nothing
}

TEST(StepRules, CopiedBytesGoOnAlike) {
  // What a checkpoint does.
  const RuleTables tables(DefaultRules());
  RunDescription run;
  ScalerTracker tracker;
  StepSeries series;
  StepRules live;
  StepRules restored;
  const StepOps ops;
  for (int64_t step = 0; step < 600; ++step) {
    const StepRecord r = RecordOf({.scale = step < 400 ? 65536.0 : 256.0,
                                   .overflow = step >= 400 && step < 420,
                                   .loss = 2 + 0.01 * (step % 13),
                                   .grad_norm = 1 + 0.1 * (step % 7)},
                                  step);
    tracker.OnStep(r);
    if (step == 300) std::memcpy(&restored, &live, sizeof(live));
    const StepContext context = ContextOf(run, r, tracker, ops, &series);
    live.On(context, tables.step(), [](size_t) {});
    if (step < 300) continue;
    restored.On(context, tables.step(), [](size_t) {});
  }
  EXPECT_FALSE(live.quiet());
  for (size_t i = 0; i < StepRules::kSize; ++i) {
    EXPECT_EQ(live.severity(i), restored.severity(i)) << i;
  }
}

// A list of everything that must stay silent, through every rule on steps.
struct Quiet {
  const char* name;
  ScalerDeclaration scaler;
  std::vector<Update> updates;
};

std::vector<Update> StartUp(double from, int halvings) {
  std::vector<Update> list;
  for (int i = 0; i < halvings; ++i) {
    list.push_back({.scale = from, .overflow = true, .skipped = true});
    from /= 2;
  }
  for (int i = 0; i < 1000; ++i) {
    list.push_back({.scale = from,
                    .overflow = false,
                    .skipped = false,
                    .loss = 8.0 / (1 + 0.01 * i),
                    .grad_norm = 4.0 / (1 + 0.01 * i)});
  }
  return list;
}

std::vector<Update> OneOverflowIn(int updates) {
  std::vector<Update> list;
  for (int i = 1; i <= 10 * updates; ++i) {
    const bool overflow = i % updates == 0;
    const bool probe = i > updates && i % updates == updates - 1;
    list.push_back({.scale = probe ? 65536.0 : 32768.0,
                    .overflow = overflow,
                    .skipped = overflow,
                    .loss = 2 + 0.01 * (i % 17),
                    .grad_norm = overflow ? kInf : 1 + 0.1 * (i % 11)});
  }
  return list;
}

std::vector<Update> Bf16(int records) {
  std::vector<Update> list;
  for (int i = 0; i < records; ++i) {
    list.push_back(
        {.loss = 3 + 0.02 * (i % 9), .grad_norm = 1 + 0.1 * (i % 5)});
  }
  return list;
}

TEST(StepRules, NeverCryWolf) {
  const std::vector<Quiet> cases = {
      {"start-up 2^32 to 2^16", Scaler("megatron"), StartUp(0x1p32, 17)},
      {"the same, undeclared", ScalerDeclaration(), StartUp(0x1p32, 17)},
      {"one overflow in 2000", Scaler("pytorch"), OneOverflowIn(2000)},
      {"one overflow in 100", Scaler("pytorch"), OneOverflowIn(100)},
      {"BF16 without a scale", NoScaler(), Bf16(3000)},
      {"BF16, undeclared", ScalerDeclaration(), Bf16(3000)},
  };
  const RuleTables tables(DefaultRules());
  for (const Quiet& c : cases) {
    SCOPED_TRACE(c.name);
    RunDescription run;
    run.scaler = c.scaler;
    ScalerTracker tracker;
    StepSeries series;
    tracker.Declare(c.scaler);
    StepRules rules;
    int64_t step = 0;
    for (const Update& update : c.updates) {
      const StepRecord record = RecordOf(update, ++step);
      tracker.OnStep(record);
      const StepOps ops;
      rules.On(ContextOf(run, record, tracker, ops, &series), tables.step(),
               [&](size_t i) {
                 ADD_FAILURE()
                     << StepRules::Specs()[i]->name << " at step " << step;
               });
    }
    EXPECT_TRUE(rules.quiet());
  }
}

}  // namespace
}  // namespace nanwatch
