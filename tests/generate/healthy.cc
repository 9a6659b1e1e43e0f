#include "tests/generate/healthy.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanwatch::generate {
namespace {

enum Sort {
  kHotStart,
  kLongWarmup,
  kBf16,
  kMasked,
  kTranslated,
  kProbing,
  kPolicy,
  kTwoOptimizers,
};
constexpr const char* kSortNames[kHealthyKinds] = {"language, hot start",
                                                   "language, warm-up",
                                                   "language, BF16",
                                                   "masked words",
                                                   "translation",
                                                   "fine-tuning, probing",
                                                   "policy",
                                                   "two optimizers"};

// Learning rate falls to a tenth; the batch doubles; other data come.
void AddChanges(int64_t steps, Random* random, Plan* plan) {
  const auto place = [&](double from, double to) {
    return static_cast<int64_t>(random->Between(from, to) *
                                static_cast<double>(steps));
  };
  std::vector<Plan::Change>& changes = plan->changes;
  if (random->Chance(0.4)) {
    changes.push_back({.step = place(0.4, 0.9),
                       .loss = -random->Between(0.02, 0.15),
                       .norm = random->Between(-0.2, 0.5),
                       .rate = 0.1});
  }
  if (random->Chance(0.3)) {
    changes.push_back({.step = place(0.2, 0.9),
                       .loss = -random->Between(0, 0.03),
                       .norm = -random->Between(0.1, 0.4),
                       .noise = -0.3466});
  }
  if (random->Chance(0.3)) {
    changes.push_back({.step = place(0.2, 0.9),
                       .loss = random->Between(-0.3, 0.3),
                       .norm = random->Between(-0.5, 0.5)});
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
}

Setup SetupOf(Sort sort, const Plan& plan, Random* random) {
  Setup setup;
  setup.kind = kSortNames[sort];
  setup.scaling = plan.scaling;
  setup.precision = plan.scaling == Scaling::kNone ? "bf16" : "fp16";
  if (plan.scaling == Scaling::kNone) return setup;
  // Some programs declare their scaler, others nothing at all.
  const uint64_t how = random->Below(3);
  if (how == 0) setup.scaling = Scaling::kUnknown;
  if (how != 2) return setup;
  setup.scaler = plan.scaler.hysteresis > 1 ? "megatron" : "pytorch";
  setup.init_scale = plan.scaler.init;
  setup.growth_interval = plan.scaler.interval;
  if (plan.scaler.hysteresis > 1) setup.hysteresis = plan.scaler.hysteresis;
  return setup;
}

Plan PlanOf(Sort sort, int64_t steps, Random* random) {
  switch (sort) {
    case kMasked:
      return PlanOf(Kind::kMaskedWords, steps, random);
    case kTranslated:
      return PlanOf(Kind::kTranslation, steps, random);
    case kProbing: {
      Plan plan = PlanOf(Kind::kMaskedWords, steps, random);
      plan.first_loss = 2.5;
      plan.last_loss = 1.6;
      plan.half = 100;
      plan.scaler = {.init = 65536,
                     .interval = static_cast<int64_t>(Probing().apart),
                     .hysteresis = 2,
                     .floor = 1};
      plan.edge = 65536;
      plan.norm_noise.width /= 4;
      plan.element_noise = 0.05;
      return plan;
    }
    case kPolicy: {
      Plan plan = PlanOf(Kind::kMaskedWords, steps, random);
      plan.around_zero = true;
      plan.loss_noise = {0.08, 4};
      plan.first_norm = plan.last_norm = random->Between(0.2, 3);
      if (random->Chance(0.5)) plan.scaling = Scaling::kNone;
      return plan;
    }
    default: {
      Plan plan = PlanOf(Kind::kLanguage, steps, random);
      plan.hot_start = sort == kHotStart;
      if (sort != kHotStart) {
        plan.first_loss = 10.9;
        plan.last_loss = random->Between(1.8, 3.5);
        plan.half = random->Between(100, 500);
        plan.warmup = std::max<int64_t>(50, steps / 10);
        plan.loss_noise.width *= random->Between(0.1, 1);
      }
      if (sort == kBf16) plan.scaling = Scaling::kNone;
      return plan;
    }
  }
}

// Seconds until the next update: some are evaluations and checkpoints.
double Pause(int64_t step, double usual, int64_t evaluation, Random* random) {
  const double noisy = usual * std::exp(0.1 * random->Normal());
  if (step % evaluation == 0) return noisy + random->Between(30, 600);
  return noisy;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Each quantile is the middle one of as many logs.
template <typename Print>
Quantiles Typical(Print print, int logs) {
  std::vector<double> median;
  std::vector<double> q99;
  std::vector<double> q999;
  for (int seed = 1; seed <= logs; ++seed) {
    const Quantiles q = MovesOf(print(static_cast<uint64_t>(seed)));
    median.push_back(q.median);
    q99.push_back(q.q99);
    q999.push_back(q.q999);
  }
  return {Median(median), Median(q99), Median(q999)};
}

}  // namespace

Plan PlanOf(Kind kind, int64_t steps, Random* random) {
  Plan plan;
  plan.steps = steps;
  plan.loss_noise = LossTexture(kind).noise;
  plan.norm_noise = NormTexture().noise;
  plan.edge = std::exp2(random->Between(13, 18));
  plan.last_norm = std::exp(random->Between(-1.5, 1.5));
  plan.first_norm = plan.last_norm * random->Between(3, 12);
  switch (kind) {
    case Kind::kLanguage:
      plan.first_loss = 12;
      plan.last_loss = 6.9;
      plan.half = 45;
      plan.warmup = 30;
      plan.scaler = {
          .init = 4294967296.0, .interval = 1000, .hysteresis = 2, .floor = 1};
      break;
    case Kind::kMaskedWords:
      plan.first_loss = 5.4;
      plan.last_loss = 1.1;
      plan.half = 1200;
      plan.warmup = 1;
      plan.scaler = {.init = 65536, .interval = 2000};
      break;
    case Kind::kTranslation:
      plan.first_loss = 10.5;
      plan.last_loss = 2.3;
      plan.half = 120;
      plan.warmup = 200;
      plan.has_norm = false;
      plan.scaler = {.init = 1024, .interval = 128};
      plan.edge = 16384;
      break;
  }
  return plan;
}

Story Healthy(uint64_t seed, int64_t steps) {
  Random random(seed * 2654435761u + 17);
  const auto sort = static_cast<Sort>(seed % kHealthyKinds);
  Plan plan = PlanOf(sort, steps, &random);
  if (sort != kHotStart) AddChanges(steps, &random, &plan);
  Story story;
  story.setup = SetupOf(sort, plan, &random);
  std::vector<Training> optimizers;
  optimizers.emplace_back(plan, seed * 2 + 1);
  if (sort == kTwoOptimizers) {
    story.setup.optimizers = {"generator", "critic"};
    plan.changes.clear();
    plan.first_loss = 0.7;
    plan.last_loss = 1.1;  // rises as the other one learns
    plan.loss_noise = {0.2, 5};
    optimizers.emplace_back(plan, seed * 2 + 2);
  }
  const double usual = std::exp(random.Between(-1.5, 3));
  const auto evaluation = static_cast<int64_t>(250 + random.Below(2000));
  const int64_t restart_at =
      random.Chance(0.3) ? steps / 2 + static_cast<int64_t>(random.Below(100))
                         : -1;
  bool restarted = false;
  for (int64_t i = 0; i < steps; ++i) {
    Moment moment;
    moment.seconds =
        Pause(optimizers[0].step() + 1, usual, evaluation, &random);
    if (!restarted && i == restart_at) {
      restarted = moment.restart = true;
      moment.seconds += 300;
      for (Training& t : optimizers) t.Resume(t.step() - t.step() % 100);
    }
    for (size_t o = 0; o < optimizers.size(); ++o) {
      moment.updates.push_back(optimizers[o].Next());
      Update& update = moment.updates.back();
      update.optimizer = static_cast<int>(o);
      if (sort == kTwoOptimizers) update.rank = 0;
      if (seed % 3 != 0) update.underflow_fraction.reset();
    }
    story.moments.push_back(std::move(moment));
  }
  story.onset = story.look_at = story.moments.size();
  return story;
}

std::vector<double> PrintedLosses(Kind kind, uint64_t seed) {
  Random random(seed);
  const Texture& texture = LossTexture(kind);
  Plan plan =
      PlanOf(kind, int64_t{texture.lines} * texture.steps_apart, &random);
  plan.hot_start = kind == Kind::kLanguage;
  Training training(plan, seed);
  std::vector<double> printed;
  for (int line = 0; line < texture.lines; ++line) {
    double sum = 0;
    double last = 0;
    for (int i = 0; i < texture.steps_apart; ++i) {
      sum += last = *training.Next().loss;
    }
    // Megatron-LM prints means over the lines' distance.
    const bool means = kind == Kind::kLanguage;
    printed.push_back(means ? sum / texture.steps_apart : last);
  }
  // The first ten updates of that one were all skipped: it has no such line.
  if (kind == Kind::kLanguage) printed.erase(printed.begin());
  return printed;
}

std::vector<double> PrintedNorms(uint64_t seed) {
  Random random(seed);
  const Texture& texture = NormTexture();
  Plan plan = PlanOf(Kind::kLanguage, 200, &random);
  plan.scaling = Scaling::kNone;
  Training training(plan, seed);
  std::vector<double> printed;
  for (int line = 0; line < texture.lines; ++line) {
    for (int i = 0; i < texture.steps_apart; ++i) {
      const Update update = training.Next();
      if (i + 1 == texture.steps_apart) printed.push_back(*update.grad_norm);
    }
  }
  return printed;
}

Quantiles TypicalLosses(Kind kind) {
  // A long log needs few companions.
  return Typical([kind](uint64_t seed) { return PrintedLosses(kind, seed); },
                 kind == Kind::kMaskedWords ? 5 : 101);
}

Quantiles TypicalNorms() { return Typical(PrintedNorms, 101); }

double ProbingSkips() {
  constexpr int64_t kSteps = 7360;  // of the measured log
  int64_t skipped = 0;
  int64_t updates = 0;
  for (uint64_t i = 0; i < 10; ++i) {
    for (const Moment& moment :
         Healthy(kProbing + kHealthyKinds * i, kSteps).moments) {
      skipped += *moment.updates[0].skipped ? 1 : 0;
      ++updates;
    }
  }
  return static_cast<double>(skipped) / static_cast<double>(updates);
}

}  // namespace nanwatch::generate
