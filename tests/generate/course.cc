#include "tests/generate/course.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/generate/random.h"

namespace nanwatch::generate {
namespace {

enum Sort {
  kStages,
  kTermSwitchesOn,
  kAnnealedTerm,
  kFolds,
  kEpochMeans,
  kFewLines,
  kGoesOn,
  kReturnsGrow,
  kPolicyAndCritic,
  kRivals
};
constexpr const char* kNames[kCourses] = {
    "stages",           "a term switches on",
    "an annealed term", "folds",
    "epochs",           "few lines",
    "goes on",          "returns grow",
    "two losses",       "rivals"};

double Decay(double first, double last, double half, int64_t i) {
  return last + (first - last) * std::exp2(-static_cast<double>(i) / half);
}

class Maker {
 public:
  Maker(uint64_t seed, int64_t records) : random_(seed), records_(records) {
    story_.setup.scaling = Scaling::kNone;
    story_.setup.precision = "fp32";
  }

  Story Make(Sort sort) {
    story_.setup.kind = kNames[sort];
    switch (sort) {
      case kStages: {
        const int64_t stage = 200 + static_cast<int64_t>(random_.Below(800));
        const double next = random_.Between(1.05, 1.35);
        Steady(random_.Between(0.01, 0.08), [=](int64_t i) {
          return Decay(3, 1, 60, i) *
                 (1 + (next - 1) * std::exp2(-double(i % stage) / 100) *
                          (i >= stage ? 1 : 0));
        });
        break;
      }
      case kTermSwitchesOn: {
        const int64_t at = 300 + static_cast<int64_t>(random_.Below(2000));
        const double more = random_.Between(0.05, 0.35);
        Steady(random_.Between(0.01, 0.1), [=](int64_t i) {
          return Decay(2.3, 0.6, 150, i) * (i >= at ? 1 + more : 1);
        });
        break;
      }
      case kAnnealedTerm: {
        const double ramp = random_.Between(500, 2000);
        Steady(random_.Between(0.01, 0.1), [=](int64_t i) {
          return Decay(200, 90, 40, i) +
                 15 * std::min(1.0, static_cast<double>(i) / ramp);
        });
        break;
      }
      case kFolds:
        Attempts(100, 400, [&](int64_t i, double of_fold) {
          return Decay(1.1 * of_fold, 0.2 * of_fold, 30, i);
        });
        break;
      case kEpochMeans:
        apart_ = 100 + static_cast<int64_t>(random_.Below(2000));
        Attempts(30, 120, [&](int64_t i, double of_fold) {
          return Decay(2.5, 0.3 + 0.2 * of_fold, 4, i);
        });
        break;
      case kFewLines:
        apart_ = 1 + static_cast<int64_t>(random_.Below(50));
        Attempts(5, 60, [&](int64_t i, double of_fold) {
          return Decay(3 * of_fold, 1, 8, i);
        });
        break;
      case kGoesOn:
        first_ = 1000 + static_cast<int64_t>(random_.Below(100000));
        Steady(random_.Between(0.005, 0.15),
               [](int64_t i) { return Decay(2.2, 2, 2000, i); });
        break;
      case kReturnsGrow: {
        const double to = random_.Between(2, 20);
        Steady(random_.Between(0.3, 0.7),
               [=](int64_t i) { return Decay(0.02, to, 1500, i); });
        break;
      }
      case kPolicyAndCritic:
        Pair([&](int64_t i) {
          const double policy = 0.02 * random_.Tailed(4);
          const double critic =
              Decay(0.1, 20, 1500, i) * std::exp(0.5 * random_.Normal());
          return std::pair(policy, critic);
        });
        break;
      case kRivals: {
        const double slow = random_.Between(100, 1000);
        Pair([&, slow](int64_t i) {
          const double tide = std::sin(static_cast<double>(i) / slow);
          return std::pair(
              (1.2 + 0.8 * tide) * std::exp(0.3 * random_.Normal()),
              (0.7 - 0.4 * tide) * std::exp(0.2 * random_.Normal()));
        });
        break;
      }
    }
    story_.onset = story_.look_at = story_.moments.size();
    return std::move(story_);
  }

 private:
  Update Record(int64_t step, double loss) const {
    Update update;
    update.step = step;
    update.loss = loss;
    return update;
  }

  template <typename Level>
  void Steady(double noise, Level level) {
    for (int64_t i = 0; i < records_; ++i) {
      const double norm =
          Decay(3, 1, 200, i) * std::exp(0.25 * random_.Tailed(8));
      Update update =
          Record(first_ + i, level(i) * std::exp(noise * random_.Tailed(5)));
      update.grad_norm = norm;
      story_.moments.push_back({.seconds = 1, .updates = {update}});
    }
  }

  // Attempts of the run, of so many records each.
  template <typename Level>
  void Attempts(int64_t fewest, int64_t most, Level level) {
    const double noise = random_.Between(0.01, 0.1);
    int64_t left = records_;
    while (left > 0) {
      const int64_t records = std::min<int64_t>(
          left, fewest + static_cast<int64_t>(random_.Below(
                             static_cast<uint64_t>(most - fewest))));
      const double of_fold = random_.Between(0.7, 1.3);
      for (int64_t i = 0; i < records; ++i) {
        Moment moment{.seconds = 1};
        moment.restart = i == 0 && left < records_;
        moment.updates = {
            Record(i * apart_,
                   level(i, of_fold) * std::exp(noise * random_.Normal()))};
        story_.moments.push_back(std::move(moment));
      }
      left -= records;
    }
  }

  template <typename Losses>
  void Pair(Losses losses) {
    story_.setup.optimizers = {"first", "second"};
    for (int64_t i = 0; i < records_ / 2; ++i) {
      const auto [first, second] = losses(i);
      Moment moment{.seconds = 1};
      moment.updates = {Record(i, first), Record(i, second)};
      moment.updates[1].optimizer = 1;
      story_.moments.push_back(std::move(moment));
    }
  }

  Random random_;
  const int64_t records_;
  int64_t first_ = 0;
  int64_t apart_ = 1;  // steps
  Story story_;
};

}  // namespace

Story HealthyCourse(uint64_t seed, int64_t records) {
  Maker maker(seed * 2654435761u + 29, records);
  return maker.Make(static_cast<Sort>(seed % kCourses));
}

}  // namespace nanwatch::generate
